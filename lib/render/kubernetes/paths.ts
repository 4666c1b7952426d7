import { hostPaths } from '../../host/paths.ts';

const host = hostPaths();

/**
 * Where the control plane's files lie. The same paths hold on the host and in the
 * containers. Each component has a folder for what is configuration and one for
 * what is trust, and mounts no other's; authorities' keys lie apart from the leaves.
 */
export const paths = {
  etcdData: host.etcdData,
  auditLogs: '/var/log/kube-apiserver',
  kubelet: host.kubelet,
  kubeletPki: host.kubeletPki,
  kubernetes: host.kubernetes,
  staticPods: host.staticPods,
  agents: host.config,
  pki: host.pki,
  authorities: `${host.pki}/ca`,
  serviceAccount: `${host.pki}/service-account`,
  configOf: (component: string) => `${host.kubernetes}/${component}`,
  pkiOf: (component: string) => `${host.pki}/${component}`,
} as const;

/** Where every client on the host finds the API: neither DNS nor the node's address matters. */
export const localApi = 'https://127.0.0.1:6443';
export const apiPort = 6443;
