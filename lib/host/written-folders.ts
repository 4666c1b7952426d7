/** Where writes must not fail on an installed host: the kubelet, the runtime, etcd and the journal. */
export const WRITTEN_FOLDERS = [
  '/var/lib/kubelet',
  '/var/lib/containers',
  '/var/lib/containerd',
  '/var/lib/etcd',
  '/var/log',
] as const;
