/** Where the control plane of OpenShift has its files on the host. */
export const paths = {
  kubernetes: '/etc/kubernetes',
  staticPods: '/etc/kubernetes/manifests',
  /** Mounted by the bootstrap's static pods, as are the following. */
  configs: '/etc/kubernetes/bootstrap-configs',
  secrets: '/etc/kubernetes/bootstrap-secrets',
  cloud: '/etc/kubernetes/cloud',
  logs: '/var/log/bootstrap-control-plane',
  auditLogs: '/var/log/kube-apiserver',
  etcdMember: '/etc/kubernetes/static-pod-resources/etcd-member',
  etcdData: '/var/lib/etcd',
} as const;
