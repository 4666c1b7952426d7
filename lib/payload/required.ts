/** The images that the control plane's static pods are made of, and that of every pod's sandbox. */
export const requiredImages = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'pause',
] as const;

/** What units and agents run from the payload. */
export const requiredBinaries = ['etcdutl', 'kubelet'] as const;

/** What the rendered network configuration calls; an OS image can bring them itself. */
export const usedPlugins = ['bridge', 'host-local', 'loopback', 'portmap'] as const;
