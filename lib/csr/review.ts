import type { KubeClient } from '../kube/client.ts';
import type { CertificateSigningRequest } from '../kube/resources.ts';
import type { Judgement } from './checks.ts';
import type { Decision } from './decision.ts';
import { judge } from './judge.ts';
import { PendingRequests } from './pending-requests.ts';
import type { HostView, NodeView } from './views.ts';

export interface ReviewOptions {
  readonly signal: AbortSignal;
  /** Read once for each review, because the host's names and addresses change while it starts. */
  readonly host: () => Promise<HostView>;
  readonly report: (decision: Decision) => void;
}

/** Judges pending requests, approves those of this node, and reports each decision once. */
export class Review {
  readonly #host: ReviewOptions['host'];
  readonly #pending: PendingRequests;

  constructor(client: KubeClient, { host, ...options }: ReviewOptions) {
    this.#host = host;
    this.#pending = new PendingRequests(client, {
      ...options,
      approval: (request) => ({
        reason: 'NodeServingCertificate',
        message: `Requested by ${request.spec.username} for the name and addresses of its own host`,
      }),
    });
  }

  /** Whether all approvals were accepted; if not, the same requests must be reviewed again. */
  async run(
    requests: Iterable<CertificateSigningRequest>,
    node: NodeView | undefined,
  ): Promise<boolean> {
    return this.#pending.run(requests, async () => {
      const host = await this.#host();
      return (csr): Judgement => judge(csr, host, node, new Date());
    });
  }
}
