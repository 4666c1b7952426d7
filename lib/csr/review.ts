import type { KubeClient } from '../kube/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { type CertificateSigningRequest, resources } from '../kube/resources.ts';
import type { Decision } from './decision.ts';
import { judge } from './judge.ts';
import { type CertificateCache, readSigningRequest } from './signing-request.ts';
import type { HostView, NodeView } from './views.ts';

export interface ReviewOptions {
  readonly signal: AbortSignal;
  /** Read once for each review, because the host's names and addresses change while it starts. */
  readonly host: () => Promise<HostView>;
  readonly report: (decision: Decision) => void;
}

const approveMs = 10_000;

/** Judges pending requests, approves those of this node, and reports each decision once. */
export class Review {
  readonly #client: KubeClient;
  readonly #options: ReviewOptions;
  readonly #reported = new Map<string, string>();
  readonly #certificates: CertificateCache = new Map();

  constructor(client: KubeClient, options: ReviewOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Whether all approvals were accepted; if not, the same requests must be reviewed again. */
  async run(
    requests: Iterable<CertificateSigningRequest>,
    node: NodeView | undefined,
  ): Promise<boolean> {
    const pending = [...requests].filter((request) => !isDecided(request));
    if (pending.length === 0) return true;
    const host = await this.#options.host();
    let isComplete = true;
    for (const request of pending) {
      const judgement = await this.#decide(request, host, node);
      if (judgement === undefined) continue;
      this.#report(request, judgement);
      if (judgement.verdict === 'failed') isComplete = false;
    }
    return isComplete;
  }

  async #decide(
    request: CertificateSigningRequest,
    host: HostView,
    node: NodeView | undefined,
  ): Promise<Decision['judgement'] | undefined> {
    const read = await readSigningRequest(request, this.#certificates);
    const judgement = judge(read, host, node, new Date());
    return judgement.verdict === 'leave' ? judgement : await this.#approve(request);
  }

  /**
   * Undefined if the request was changed or deleted in between: the watch reports
   * its new state.
   */
  async #approve(request: CertificateSigningRequest): Promise<Decision['judgement'] | undefined> {
    const place = { name: request.metadata.name, subresource: 'approval' };
    const limits = { signal: this.#options.signal, deadlineMs: approveMs };
    try {
      const body = approved(request, new Date());
      await this.#client.replace(resources.certificateSigningRequests, place, body, limits);
      return { verdict: 'approve' };
    } catch (error) {
      if (!isKubeError(error)) throw error;
      if (error.kind === 'conflict' || error.kind === 'not-found') return undefined;
      return { verdict: 'failed', rule: 'api', explanation: error.message };
    }
  }

  #report({ metadata, spec }: CertificateSigningRequest, judgement: Decision['judgement']): void {
    // A request that was deleted and re-created under the same name is a different one.
    const id = metadata.uid ?? metadata.name;
    const text = JSON.stringify(judgement);
    if (this.#reported.get(id) === text) return;
    this.#reported.set(id, text);
    const { username: requestor = '', signerName: signer } = spec;
    this.#options.report({ request: metadata.name, requestor, signer, judgement });
  }
}

function isDecided({ status }: CertificateSigningRequest): boolean {
  return (status?.conditions ?? []).length > 0 || status?.certificate !== undefined;
}

/** The request in the form that the approval subresource expects. */
function approved(request: CertificateSigningRequest, now: Date) {
  const condition = {
    type: 'Approved',
    status: 'True',
    reason: 'NodeServingCertificate',
    message: `Requested by ${request.spec.username} for the name and addresses of its own host`,
    lastUpdateTime: now.toISOString(),
  };
  return { ...request, status: { ...request.status, conditions: [condition] } };
}
