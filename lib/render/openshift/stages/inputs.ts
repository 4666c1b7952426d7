import type { Argument } from '../stage.ts';

export const featureGate = 'manifests/99_feature-gate.yaml';
export const infrastructure = 'manifests/cluster-infrastructure-02-config.yml';
export const networkInput = 'manifests/cluster-network-02-config.yml';
export const clusterConfig = 'manifests/cluster-config.yaml';
export const generatedCloudConfig = 'config-bootstrap/cloud-provider-config-generated.yaml';

/** What openshift-install writes, and the image references of the release: here before any stage. */
export const INSTALLER_FILES = [
  featureGate,
  infrastructure,
  networkInput,
  clusterConfig,
  'manifests/openshift-config-secret-pull-secret.yaml',
  'tls/root-ca.crt',
  'tls/kube-apiserver-complete-client-ca-bundle.crt',
  'tls/kubelet-signer.key',
  'tls/machine-config-server.key',
  'tls/service-account.key',
  'auth/kubeconfig',
  'auth/kubeconfig-kubelet',
  'auth/kubeconfig-loopback',
  'image-references',
] as const;

/** For operators that look up the gates of this release in the completed feature gate. */
export const renderedManifests: readonly Argument[] = [
  '--rendered-manifest-files=/assets/manifests',
  '--payload-version={version}',
];
