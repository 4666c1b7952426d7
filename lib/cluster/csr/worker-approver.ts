import type { KubeClient } from '../../clients/kube/client.ts';
import type { CertificateSigningRequest } from '../../clients/kube/resources.ts';
import { servingSigner } from '../../clients/kube/signers.ts';
import type { AllowedMember, AllowedWorker } from '../workers/entry.ts';
import type { Decision } from './decision.ts';
import { followRequests } from './follow-requests.ts';
import {
  allowedAddresses,
  isDecidedElsewhere,
  isOfAllowedWorker,
  judgeWorker,
  type WorkersView,
} from './judge-worker.ts';
import { PendingRequests } from './pending-requests.ts';
import type { SigningRequest } from './signing-request.ts';

/** A worker, and what its serving certificate was approved for. */
export type ServedWorker = Omit<AllowedMember, 'expires'>;

export interface WorkerApproverOptions {
  readonly signal: AbortSignal;
  /** The name of the control plane's own node. */
  readonly ownName: string;
  readonly workers: readonly AllowedWorker[];
  readonly report: (decision: Decision) => void;
  /** Is awaited before the serving certificate of a worker is approved. */
  readonly serving: (worker: ServedWorker) => Promise<void>;
  /** Is told a worker whose serving certificate was approved: its last one. */
  readonly served: (worker: ServedWorker) => void;
}

/**
 * Approves requests of the allowed workers, and nothing else, until the signal fires. Everything is
 * judged again whenever a request or a Node changes.
 * @throws the reason of the signal
 */
export async function approveWorkerRequests(
  client: KubeClient,
  { signal, ownName, workers, report, serving, served }: WorkerApproverOptions,
): Promise<void> {
  const pending = new PendingRequests<WorkersView>(client, {
    signal,
    approval: workerApproval,
    judge: judgeWorker,
    isExpected: (csr) => isOfAllowedWorker(csr, { allowed: workers }),
    report,
    approving: async (csr, view) => {
      const worker = servedWorker(csr, view);
      if (worker !== undefined) await serving(worker);
    },
    approved: (csr, view) => {
      const worker = servedWorker(csr, view);
      if (worker !== undefined) served(worker);
    },
  });
  const viewOf = async (nodes: WorkersView['nodes']) => ({ ownName, allowed: workers, nodes });
  const isOurs = ({ spec }: CertificateSigningRequest) => !isDecidedElsewhere(spec, ownName);
  await followRequests(client, pending, viewOf, { signal, requests: {}, nodes: {}, isOurs });
}

/** Undefined if the request was for another certificate. */
export function servedWorker(
  { signerName, username }: SigningRequest,
  view: WorkersView,
): ServedWorker | undefined {
  const name = username.replace(/^system:node:/, '');
  const nodeUid = view.nodes.get(name)?.uid;
  if (signerName !== servingSigner || nodeUid === undefined) return undefined;
  return { name, nodeUid, addresses: allowedAddresses(view, name) };
}

export const workerApproval = ({ spec }: CertificateSigningRequest) =>
  spec.signerName === servingSigner
    ? {
        reason: 'WorkerServingCertificate',
        message: `Requested by ${spec.username} for the name and addresses that it is allowed`,
      }
    : {
        reason: 'WorkerClientCertificate',
        message: `Requested by ${spec.username} for a worker in the list`,
      };
