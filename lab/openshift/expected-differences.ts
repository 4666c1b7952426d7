import type { Explanation } from './tree-differences.ts';

const installer = 'openshift-install 4.19 wrote it; the reference has none, or one of a few lines';
const agents =
  "of the agents: the reference is that of the operators, without the agents' take-over";
const keys = 'the reference has no private keys';
const api = 'the reference was rendered with another commit of openshift/api';
const metadata =
  "the stand-in repeats no descriptions, and none of the annotations of the operators' builds";
const certificates = 'names and dates of certificates of another cluster';
const script = 'the stand-in writes the same command in other words';
const defaults = 'one of the two states a default of Kubernetes';

const explained: readonly (readonly [difference: RegExp, reason: string])[] = [
  [/^[^:]*\.(?:key|pub): ours$/, keys],
  [/: data \S+\.(?:key|pub): both$/, keys],
  [/^\/etc\/(?:crio|kubernetes\/kubelet-live)/, 'of the live host; no stage renders it'],
  [/^\/etc\/sno-agents\/(?:bootstrap-pods\.json|executable\.sha256): ours$/, agents],
  [/^\/etc\/systemd\/system\/sno-[\w-]+\.service(?:\.d\/[\w-]+\.conf)?: ours$/, agents],
  [/^manifests\/99_(?:machine-approver|sno-agents)-[\w-]+\.yaml: ours$/, agents],
  [/^\/opt\/openshift\/original_cvo_overrides\.patch: ours$/, installer],
  [/feature-?gates: items: (?:ours|real)$/i, api],
  [/^manifests\/\S*_images(?:-Default)?\.crd\.yaml: (?:ours|real)$/, api],
  [/clusterversions-Default\.crd\.yaml: .* architecture: real$/, api],
  [/kube-controller-manager-pod\.yaml: .* args: items: (?:ours|real)$/, api],
  [/: metadata annotations auth\.openshift\.io\/certificate-/, certificates],
  [
    /^\/etc\/mcc\/bootstrap\/machineconfigcontroller-pull-secret: |pull-secret\.yaml: data /,
    'the pull secret of another cluster',
  ],
  [/generated-by-version: both$/, 'another build of the machine-config operator'],
  [
    /additionalTrustBundle: both$|^manifests\/(?:user-ca-bundle-|image-digest-mirror-)/,
    'the mirror of the lab',
  ],
  [/^\/etc\/mcs\/kubeconfig: /, 'the kubeconfig of another cluster'],
  [
    /^manifests\/(?:cluster-\w+(?:-\d+-config)?|cvo-overrides|kube-cloud-config|machine-config-server-[\w-]+)\.ya?ml: /,
    installer,
  ],
  [
    /^manifests\/(?:99_kubeadmin|99_openshift-(?:cluster-api|machineconfig)_|openshift-install-manifests)\S*: /,
    installer,
  ],
  [
    /^manifests\/04-openshift-machine-config-operator\.yaml: real$/,
    'written by hand: a namespace of the release',
  ],
  [
    /: metadata annotations (?:(?:in|ex)clude\.release|release|kubernetes\.io|openshift)\S*: (?:real|both)$/,
    metadata,
  ],
  // A description with colons in it.
  [/scc-nested-container\.yaml: metadata annotations .*: real$/, metadata],
  [
    /^manifests\/00_[\w-]+-controller-clusterrole(?:binding)?\.yaml: metadata (?:annotations|creationTimestamp): /,
    metadata,
  ],
  [/^manifests\/configmap-sa-token-signing-certs\.yaml: metadata annotations: ours$/, metadata],
  [/^pods\/(?:etcd|kube-apiserver)-pod\.yaml: .* (?:args|command): items: (?:ours|real)$/, script],
  [
    /^pods\/.* (?:initialDelaySeconds|successThreshold|imagePullPolicy): (?:ours|real|both)$/,
    defaults,
  ],
  [/: (?:users|groups): (?:ours|real)$/, defaults],
  [/ETCD_CIPHER_SUITES: real$/, "the stand-in leaves the cipher suites to etcd's defaults"],
  [
    /_03_deployment\.yaml: spec template spec (?:containers cluster-version-operator args: items|.*\b(?:service-ca|serving-cert)): real$/,
    'the stand-in serves no metrics: the operator of service certificates is missing',
  ],
  [
    /_03_deployment\.yaml: .* env OPERATOR_IMAGE_VERSION: real$/,
    'a placeholder that no operator replaces',
  ],
];

/** Why the lab's release renders something else than OpenShift 4.21. */
export const expectedDifferences: readonly Explanation[] = explained.map(
  ([difference, reason]) => ({ difference, reason }),
);
