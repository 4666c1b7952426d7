import type { KubeClient } from '../../clients/kube/client.ts';
import { servingSigner } from '../../clients/kube/signers.ts';
import { userOfNode } from './checks.ts';
import type { Decision } from './decision.ts';
import { followRequests } from './follow-requests.ts';
import { judge, type OwnView } from './judge.ts';
import { PendingRequests } from './pending-requests.ts';
import type { HostView } from './views.ts';

export interface ApproverOptions {
  readonly signal: AbortSignal;
  readonly nodeName: string;
  /** Read for each group of requests, because the host's names and addresses change while it starts. */
  readonly host: () => Promise<HostView>;
  readonly report: (decision: Decision) => void;
  /** Whether requests to other signers are reported too; they are never approved. */
  readonly reportsAllSigners?: boolean;
}

/**
 * Approves this node's requests for serving certificates, and nothing else, until the signal fires.
 * @throws the reason of the signal
 */
export async function approveServingRequests(
  client: KubeClient,
  { signal, nodeName, host, report, reportsAllSigners = false }: ApproverOptions,
): Promise<void> {
  const pending = new PendingRequests<OwnView>(client, {
    signal,
    judge,
    isExpected: ({ username }) => username === userOfNode(nodeName),
    approval: ({ spec }) => ({
      reason: 'NodeServingCertificate',
      message: `Requested by ${spec.username} for the name and addresses of its own host`,
    }),
    report,
  });
  const viewOf = async (nodes: ReadonlyMap<string, NonNullable<OwnView['node']>>) => ({
    host: await host(),
    node: nodes.get(nodeName),
  });
  await followRequests(client, pending, viewOf, {
    signal,
    requests: reportsAllSigners ? {} : { fieldSelector: `spec.signerName=${servingSigner}` },
    nodes: { fieldSelector: `metadata.name=${nodeName}` },
  });
}
