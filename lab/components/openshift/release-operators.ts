import { OPENSHIFT_VERSION, referenceByDigest } from './release.ts';

/** Name of the program that is the operators of all static pods, and of its image. */
export const STATIC_POD_OPERATOR = 'static-pod-operator';
/** Where its image has the templates with which the render stages make the static pods. */
export const STATIC_POD_TEMPLATES = '/usr/share/static-pods';

/**
 * One namespace for all four: those of the release's operators admit only pods that need no right of
 * the host, and without a pod network that reaches Services these pods use the host's.
 */
const namespace = 'openshift-static-pod-operators';
const name = STATIC_POD_OPERATOR;

/** Each component with the image of its static pod and that of its operator in the release. */
const components = {
  etcd: ['etcd', 'cluster-etcd-operator'],
  'kube-apiserver': ['hyperkube', 'cluster-kube-apiserver-operator'],
  'kube-controller-manager': ['hyperkube', 'cluster-kube-controller-manager-operator'],
  'kube-scheduler': ['hyperkube', 'cluster-kube-scheduler-operator'],
} as const;

/** The definitions of the operators' configuration, among those of the API. */
export const OPERATOR_DEFINITIONS: readonly string[] = [
  '0000_12_etcd_01_etcds-Default',
  '0000_20_kube-apiserver_01_kubeapiservers-Default',
  '0000_25_kube-controller-manager_01_kubecontrollermanagers',
  '0000_25_kube-scheduler_01_kubeschedulers',
].map((file) => `${file}.crd.yaml`);

/**
 * The release's manifests of the static pod operators, by file name: the cluster-version operator
 * creates them in this order. `digests`: of images, by name.
 */
export function operatorManifests(digests: ReadonlyMap<string, string>): Record<string, object> {
  const image = (each: string) => referenceByDigest(each, digests.get(each) ?? '');
  return {
    ...Object.fromEntries(
      Object.keys(components).map((each) => [
        `0000_90_${each}_clusteroperator.yaml`,
        {
          apiVersion: 'config.openshift.io/v1',
          kind: 'ClusterOperator',
          metadata: { name: each },
          spec: {},
        },
      ]),
    ),
    '0000_91_static-pod-operators_00_namespace.yaml': {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: namespace,
        annotations: { 'openshift.io/node-selector': '' },
        labels: { 'pod-security.kubernetes.io/enforce': 'privileged' },
      },
    },
    '0000_91_static-pod-operators_01_serviceaccount.yaml': {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace },
    },
    // As the operators of a release: each is an administrator.
    '0000_91_static-pod-operators_02_rolebinding.yaml': {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: `system:openshift:operator:${name}` },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'cluster-admin',
      },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
    '0000_91_static-pod-operators_03_deployment.yaml': {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace },
      spec: {
        selector: { matchLabels: { app: name } },
        // Two would be two operators of the same pods.
        strategy: { type: 'Recreate' },
        template: {
          metadata: { labels: { app: name } },
          spec: {
            serviceAccountName: name,
            hostNetwork: true,
            priorityClassName: 'system-cluster-critical',
            nodeSelector: { 'node-role.kubernetes.io/master': '' },
            tolerations: [{ operator: 'Exists' }],
            containers: Object.entries(components).map(([component, [operand, operator]]) => ({
              name: component,
              image: image(STATIC_POD_OPERATOR),
              args: [
                'operator',
                `--component=${component}`,
                `--release-version=${OPENSHIFT_VERSION}`,
                `--templates=${STATIC_POD_TEMPLATES}`,
                `--operand-image=${image(operand)}`,
                `--operator-image=${image(operator)}`,
                `--policy-image=${image('cluster-policy-controller')}`,
                '--v=2',
              ],
              env: [
                { name: 'OPERATOR_IMAGE', value: image(STATIC_POD_OPERATOR) },
                // Nothing serves the addresses of Services.
                { name: 'KUBERNETES_SERVICE_HOST', value: '127.0.0.1' },
                { name: 'KUBERNETES_SERVICE_PORT', value: '6443' },
              ],
              terminationMessagePolicy: 'FallbackToLogsOnError',
            })),
          },
        },
      },
    },
  };
}
