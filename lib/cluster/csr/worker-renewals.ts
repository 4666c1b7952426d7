import type { Limits } from '../../base/wait/limits.ts';
import type { KubeClient } from '../../clients/kube/client.ts';
import { resources } from '../../clients/kube/resources.ts';
import { servingSigner } from '../../clients/kube/signers.ts';
import type { AllowedMember } from '../workers/entry.ts';
import { userOfNode } from './checks.ts';
import type { Decision } from './decision.ts';
import {
  isDecidedElsewhere,
  isOfAllowedWorker,
  judgeRenewal,
  type RenewalView,
} from './judge-worker.ts';
import { PendingRequests } from './pending-requests.ts';
import { nodeView } from './views.ts';
import { type ServedWorker, servedWorker, workerApproval } from './worker-approver.ts';

export interface Renewals {
  /** Those whose next serving certificate was approved. */
  readonly served: readonly ServedWorker[];
  /** The decisions on requests of members that got none approved; what nobody waits for any more is not among them. */
  readonly left: readonly Decision[];
  /** Those whose Node is gone, or is another one of the same name. */
  readonly removed: readonly AllowedMember[];
}

interface RenewalsOptions extends Limits {
  readonly report: (decision: Decision) => void;
  /** Is awaited before the certificate of a worker is approved. */
  readonly serving: (worker: ServedWorker) => Promise<void>;
}

/**
 * Looks once at all pending requests, and approves those of members for their next serving certificates.
 *
 * @throws KubeError if the API cannot be read.
 */
export async function approveWorkerRenewals(
  client: KubeClient,
  { ownName, members }: { readonly ownName: string; readonly members: readonly AllowedMember[] },
  { report, serving, ...limits }: RenewalsOptions,
): Promise<Renewals> {
  const found = await client.list(resources.nodes, {}, limits);
  const nodes = new Map(found.items.map((node) => [node.metadata.name, nodeView(node)]));
  const isPresent = ({ name, nodeUid }: AllowedMember) => nodes.get(name)?.uid === nodeUid;
  const view: RenewalView = { ownName, allowed: members.filter(isPresent), nodes };
  const left: Decision[] = [];
  const served: ServedWorker[] = [];
  const pending = new PendingRequests<RenewalView>(client, {
    signal: limits.signal,
    judge: judgeRenewal,
    isExpected: (csr) => isOfAllowedWorker(csr, view),
    approval: workerApproval,
    report: (decision) => {
      report(decision);
      if (isAwaited(decision)) left.push(decision);
    },
    approving: async (csr) => {
      const worker = servedWorker(csr, view);
      if (worker !== undefined) await serving(worker);
    },
    approved: (csr) => {
      const worker = servedWorker(csr, view);
      if (worker !== undefined) served.push(worker);
    },
  });
  const selection = { fieldSelector: `spec.signerName=${servingSigner}` };
  const resource = resources.certificateSigningRequests;
  for await (const { items } of client.pages(resource, selection, limits)) {
    for (const request of items.filter(({ spec }) => !isDecidedElsewhere(spec, ownName))) {
      pending.replace(request.metadata.name, request);
    }
    while ((await pending.decide(async () => view)) === 'more');
  }
  return {
    served,
    left: left.filter(({ requestor }) => isOf(view.allowed, requestor) && !isOf(served, requestor)),
    removed: members.filter((member) => !isPresent(member)),
  };
}

const isOf = (workers: readonly { readonly name: string }[], requestor: string): boolean =>
  workers.some(({ name }) => requestor === userOfNode(name));

/** A kubelet gives up on a request and sends another one; the old one stays for a day. */
const isAwaited = ({ judgement }: Decision): boolean =>
  judgement.verdict !== 'approve' && judgement.rule !== 'age';
