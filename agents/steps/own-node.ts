import { type KubeClient, kubeClient } from '../../lib/clients/kube/client.ts';
import { kubeletPaths } from '../../lib/render/kubernetes/kubelet.ts';
import type { PlainHost } from './host-context.ts';

/** A client with the identity of this host's kubelet, which may read its own Node. */
export const asNode = ({ paths }: PlainHost): Promise<KubeClient> =>
  kubeClient(paths.at(kubeletPaths.kubeconfig));
