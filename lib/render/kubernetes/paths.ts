import { hostPaths } from '../../host/paths.ts';

const host = hostPaths();

/**
 * Where the control plane's files are, on the host and in the containers alike. Each
 * component has a folder for configuration and one for certificates, and mounts no other
 * component's. The keys of authorities are apart from those of leaves.
 */
export const paths = {
  etcdData: host.etcdData,
  auditLogs: '/var/log/kube-apiserver',
  kubelet: host.kubelet,
  kubeletPki: host.kubeletPki,
  /** The kubelet's certificates, each with its key, behind links to dated files. */
  kubeletClientPair: `${host.kubeletPki}/kubelet-client-current.pem`,
  kubeletServingPair: `${host.kubeletPki}/kubelet-server-current.pem`,
  kubernetes: host.kubernetes,
  staticPods: host.staticPods,
  agents: host.config,
  pki: host.pki,
  authorities: `${host.pki}/ca`,
  serviceAccount: `${host.pki}/service-account`,
  configOf: (component: string) => `${host.kubernetes}/${component}`,
  pkiOf: (component: string) => `${host.pki}/${component}`,
} as const;

/** The API for every client on the host, independent of DNS and the node's address. */
export const localApi = 'https://127.0.0.1:6443';
export const apiPort = 6443;
