import type { KubeClient } from '../kube/client.ts';
import type { CertificateSigningRequest } from '../kube/resources.ts';
import type { AllowedWorker } from '../workers/entry.ts';
import { servingSigner } from './checks.ts';
import type { Decision } from './decision.ts';
import { followRequests } from './follow-requests.ts';
import {
  isDecidedElsewhere,
  isOfAllowedWorker,
  judgeWorker,
  type WorkersView,
} from './judge-worker.ts';
import { PendingRequests } from './pending-requests.ts';

export interface WorkerApproverOptions {
  readonly signal: AbortSignal;
  /** The name of the control plane's own node. */
  readonly ownName: string;
  readonly workers: readonly AllowedWorker[];
  readonly report: (decision: Decision) => void;
  /** Is told the name of a worker whose serving certificate was approved: its last one. */
  readonly served: (name: string) => void;
}

/**
 * Approves requests of the allowed workers, and nothing else, until the signal fires. Everything is
 * judged again whenever a request or a Node changes.
 * @throws the reason of the signal
 */
export async function approveWorkerRequests(
  client: KubeClient,
  { signal, ownName, workers, report, served }: WorkerApproverOptions,
): Promise<void> {
  const pending = new PendingRequests<WorkersView>(client, {
    signal,
    approval,
    judge: judgeWorker,
    isExpected: isOfAllowedWorker,
    report: (decision) => {
      report(decision);
      const isServing = decision.signer === servingSigner;
      if (isServing && decision.judgement.verdict === 'approve') {
        served(decision.requestor.replace(/^system:node:/, ''));
      }
    },
  });
  const viewOf = async (nodes: WorkersView['nodes']) => ({ ownName, allowed: workers, nodes });
  const isOurs = ({ spec }: CertificateSigningRequest) => !isDecidedElsewhere(spec, ownName);
  await followRequests(client, pending, viewOf, { signal, requests: {}, nodes: {}, isOurs });
}

const approval = ({ spec }: CertificateSigningRequest) =>
  spec.signerName === servingSigner
    ? {
        reason: 'WorkerServingCertificate',
        message: `Requested by ${spec.username} for its name and addresses in the list of workers`,
      }
    : {
        reason: 'WorkerClientCertificate',
        message: `Requested by ${spec.username} for a worker in the list`,
      };
