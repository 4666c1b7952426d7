import type { KubeClient } from '../../clients/kube/client.ts';
import { clientSigner } from '../../clients/kube/signers.ts';
import type { ApproverOptions } from './approver.ts';
import { followRequests } from './follow-requests.ts';
import { judgeOwnClient, nodeBootstrapper, type OwnClientView } from './judge-own-client.ts';
import { PendingRequests } from './pending-requests.ts';

/**
 * Approves the requests of this host's kubelet for a client certificate, and nothing else, until the signal fires.
 * @throws the reason of the signal
 */
export async function approveOwnClientRequests(
  client: KubeClient,
  view: OwnClientView,
  { signal, report }: Pick<ApproverOptions, 'signal' | 'report'>,
): Promise<void> {
  const pending = new PendingRequests<OwnClientView>(client, {
    signal,
    judge: judgeOwnClient,
    isExpected: ({ username }) => username === nodeBootstrapper,
    approval: () => ({
      reason: 'NodeClientCertificate',
      message: `Requested for ${view.nodeName} while its kubelet has no valid certificate`,
    }),
    report,
  });
  await followRequests(client, pending, async () => view, {
    signal,
    requests: { fieldSelector: `spec.signerName=${clientSigner}` },
    nodes: { fieldSelector: `metadata.name=${view.nodeName}` },
  });
}
