/** Signers of Kubernetes for the certificates of kubelets: by which they are known as servers, and as clients. */
export const servingSigner = 'kubernetes.io/kubelet-serving';
export const clientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
