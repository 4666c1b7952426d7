import type { KubeClient } from '../kube/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { type CertificateSigningRequest, resources } from '../kube/resources.ts';
import type { Judgement } from './checks.ts';
import type { Decision } from './decision.ts';
import {
  type CertificateCache,
  readSigningRequest,
  type SigningRequest,
} from './signing-request.ts';

export type Judge = (request: SigningRequest) => Judgement;

export interface PendingOptions {
  readonly signal: AbortSignal;
  /** What an approval says in the API. */
  readonly approval: (request: CertificateSigningRequest) => {
    readonly reason: string;
    readonly message: string;
  };
  readonly report: (decision: Decision) => void;
}

const approveMs = 10_000;

/** Approves the pending requests that a judge accepts, and reports each decision once. */
export class PendingRequests {
  readonly #client: KubeClient;
  readonly #options: PendingOptions;
  readonly #reported = new Map<string, string>();
  readonly #certificates: CertificateCache = new Map();

  constructor(client: KubeClient, options: PendingOptions) {
    this.#client = client;
    this.#options = options;
  }

  /**
   * Whether all approvals were accepted; if not, the same requests must be reviewed again.
   * `prepare` is called only if a request is pending.
   */
  async run(
    requests: Iterable<CertificateSigningRequest>,
    prepare: () => Promise<Judge>,
  ): Promise<boolean> {
    const pending = [...requests].filter((request) => !isDecided(request));
    if (pending.length === 0) return true;
    const judge = await prepare();
    let isComplete = true;
    for (const request of pending) {
      const judgement = await this.#decide(request, judge);
      if (judgement === undefined) continue;
      this.#report(request, judgement);
      if (judgement.verdict === 'failed') isComplete = false;
    }
    return isComplete;
  }

  async #decide(
    request: CertificateSigningRequest,
    judge: Judge,
  ): Promise<Decision['judgement'] | undefined> {
    const judgement = judge(await readSigningRequest(request, this.#certificates));
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
      const body = approved(request, this.#options.approval(request), new Date());
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
function approved(
  request: CertificateSigningRequest,
  approval: ReturnType<PendingOptions['approval']>,
  now: Date,
) {
  const condition = {
    type: 'Approved',
    status: 'True',
    ...approval,
    lastUpdateTime: now.toISOString(),
  };
  return { ...request, status: { ...request.status, conditions: [condition] } };
}
