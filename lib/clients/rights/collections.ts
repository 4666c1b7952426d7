/** API objects that a log bundle includes as one file. */
export interface Collection {
  /**
   * The file name without `.json`; differs from `plural` where readers of bundles
   * expect another name.
   */
  readonly name: string;
  /** Such as `v1` or `apps/v1`. */
  readonly apiVersion: string;
  readonly plural: string;
}

const of = (apiVersion: string, ...plurals: readonly string[]): Collection[] =>
  plurals.map((plural) => ({ name: plural, apiVersion, plural }));

/** Present in every Kubernetes cluster. Never Secrets: listing them means reading them. */
export const builtInCollections: readonly Collection[] = [
  { name: 'csr', apiVersion: 'certificates.k8s.io/v1', plural: 'certificatesigningrequests' },
  ...of(
    'v1',
    ...['configmaps', 'endpoints', 'events', 'limitranges', 'namespaces', 'nodes'],
    ...['persistentvolumeclaims', 'persistentvolumes', 'pods', 'resourcequotas'],
    ...['serviceaccounts', 'services'],
  ),
  ...of('apps/v1', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'),
  ...of('batch/v1', 'cronjobs', 'jobs'),
  ...of('apiregistration.k8s.io/v1', 'apiservices'),
  ...of('apiextensions.k8s.io/v1', 'customresourcedefinitions'),
  ...of(
    'admissionregistration.k8s.io/v1',
    'mutatingwebhookconfigurations',
    'validatingwebhookconfigurations',
  ),
  ...of('coordination.k8s.io/v1', 'leases'),
  ...of('discovery.k8s.io/v1', 'endpointslices'),
  ...of('networking.k8s.io/v1', 'ingresses', 'networkpolicies'),
  ...of('node.k8s.io/v1', 'runtimeclasses'),
  ...of('policy/v1', 'poddisruptionbudgets'),
  ...of(
    'rbac.authorization.k8s.io/v1',
    ...['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'],
  ),
  ...of('scheduling.k8s.io/v1', 'priorityclasses'),
  ...of('storage.k8s.io/v1', 'csidrivers', 'csinodes', 'storageclasses', 'volumeattachments'),
];

/** OpenShift resources, under the names of OpenShift's own bundles. */
export const openshiftCollections: readonly Collection[] = [
  { name: 'clusterversion', apiVersion: 'config.openshift.io/v1', plural: 'clusterversions' },
  ...of('config.openshift.io/v1', 'clusteroperators'),
  ...of('machine.openshift.io/v1beta1', 'machines'),
  ...of('machineconfiguration.openshift.io/v1', 'machineconfigpools', 'machineconfigs'),
  ...['kubeapiserver', 'kubecontrollermanager', 'openshiftapiserver'].map((name) => ({
    name,
    apiVersion: 'operator.openshift.io/v1',
    plural: `${name}s`,
  })),
];

/**
 * API groups that are collected completely, as `PLURAL.GROUP.json`: the
 * configuration of the cluster and its operators.
 */
export const wholeGroups: readonly string[] = [
  'config.openshift.io/v1',
  'machineconfiguration.openshift.io/v1',
  'operator.openshift.io/v1',
];
