/** The images of the control plane's static pods and of every pod sandbox. */
export const requiredImages = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'pause',
] as const;

/** Programs that units and agents run from the payload. */
export const requiredBinaries = ['etcdutl', 'kubelet'] as const;

/** Plugins that the rendered network configuration uses; an OS image can include them itself. */
export const usedPlugins = ['bridge', 'host-local', 'loopback', 'portmap'] as const;
