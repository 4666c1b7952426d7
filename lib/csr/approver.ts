import type { KubeClient } from '../kube/client.ts';
import { followRequests } from './follow-requests.ts';
import { Review, type ReviewOptions } from './review.ts';

export interface ApproverOptions extends ReviewOptions {
  readonly nodeName: string;
}

/**
 * Approves this node's requests for serving certificates, and nothing else, until
 * the signal fires. Everything is judged again whenever a request or the node's object changes.
 * @throws the reason of the signal
 */
export async function approveServingRequests(
  client: KubeClient,
  options: ApproverOptions,
): Promise<void> {
  const { nodeName, signal } = options;
  const review = new Review(client, options);
  await followRequests(client, {
    signal,
    nodes: { fieldSelector: `metadata.name=${nodeName}` },
    review: (requests, nodes) => review.run(requests, nodes.get(nodeName)),
  });
}
