import { setImmediate as turn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { ChangeSignal } from '../../base/wait/change-signal.ts';
import type { KubeClient } from '../../clients/kube/client.ts';
import { isKubeError } from '../../clients/kube/kube-error.ts';
import { type CertificateSigningRequest, resources } from '../../clients/kube/resources.ts';
import { type CsrJudgement, type CsrRule, shortened } from './checks.ts';
import type { Decision } from './decision.ts';
import { Reports } from './reports.ts';
import { RequestQueue } from './request-queue.ts';
import { type SigningRequest, signingRequestOf } from './signing-request.ts';

export interface PendingOptions<View> {
  readonly signal: AbortSignal;
  readonly judge: (request: SigningRequest, view: View, now: Date) => CsrJudgement;
  /** Whether it claims to come from a host whose requests may be approved: what it is compared with may still change. */
  readonly isExpected: (request: SigningRequest) => boolean;
  /** What an approval says in the API. */
  readonly approval: (request: CertificateSigningRequest) => {
    readonly reason: string;
    readonly message: string;
  };
  readonly report: (decision: Decision) => void;
  /**
   * Is awaited before an approval is sent, with what is to be known of it later: after the approval the process
   * may be dead, and nobody asks again.
   */
  readonly approving?: (request: SigningRequest, view: View) => Promise<void>;
  /** Is told each request that the API server has accepted the approval of. */
  readonly approved?: (request: SigningRequest, view: View) => void;
}

const APPROVE_MS = 10_000;
/** While more than this waits to be judged, no further requests are read. */
const FULL_BYTES = 16 << 20;
/** For so long one view is used: requests may arrive without end. */
const ROUND_MS = 200;
/** A kubelet has no more requests pending: it repeats them each 15 minutes, and gives up on them then. */
const KEPT_OF_ONE = 20;
/** The rules whose outcome changes with the host, its Node or the clock. */
const CHANGING: readonly CsrRule[] = [
  'host-name',
  'requestor',
  'credential',
  'age',
  'expiry',
  'subject',
  'names',
  'node-exists',
  'node-addresses',
];

/**
 * The undecided requests of the API. Each is judged when it is new. What is left is not kept, but for the last ones of
 * each expected requestor, which are judged again when what they are compared with has changed. So the requests of
 * others cost one judgement each, and no memory.
 */
export class PendingRequests<View> {
  readonly #client: KubeClient;
  readonly #options: PendingOptions<View>;
  readonly #due = new RequestQueue<Pending>();
  readonly #kept = new Map<string, Pending>();
  /** Those whose approval was not accepted. */
  readonly #failed: Pending[] = [];
  readonly #reports = new Reports();
  readonly #judged = new ChangeSignal();
  /** While all requests are listed: the names that are known and were not found yet. */
  #missing = new Set<string>();
  #view: View | undefined;

  constructor(client: KubeClient, options: PendingOptions<View>) {
    this.#client = client;
    this.#options = options;
  }

  /** All requests follow, as the API lists them. */
  beginList(): void {
    this.#missing = new Set([...this.#kept.keys(), ...this.#due.names(), ...this.#reports.names()]);
  }

  endList(): void {
    for (const name of this.#missing) this.replace(name, undefined);
    this.#missing = new Set();
  }

  /** One request as it is now; undefined if it was deleted. */
  replace(name: string, request: CertificateSigningRequest | undefined): void {
    this.#missing.delete(name);
    const before = this.#kept.get(name) ?? this.#due.get(name);
    if (request === undefined) this.#reports.forget(name);
    if (request !== undefined && before !== undefined && isSame(before, request)) return;
    this.#kept.delete(name);
    this.#due.delete(name);
    if (request !== undefined && !isDecided(request)) this.#due.add(pendingOf(request));
  }

  /** Resolves when further requests may be added. @throws the reason of the signal */
  async room(signal: AbortSignal): Promise<void> {
    while (this.#due.bytes > FULL_BYTES) await this.#judged.next(signal);
  }

  /**
   * Decides what is due. The view is read once for all of it, and not at all if nothing is due.
   *
   * @returns `more` if its time has ended before, `failed` if the API did not accept an approval, and `left` if an
   *   expected request is pending: then it has to be called again after a while.
   */
  async decide(readView: () => Promise<View>): Promise<'done' | 'left' | 'failed' | 'more'> {
    for (const each of this.#failed.splice(0)) {
      if (this.#due.get(each.name) === undefined) this.#due.add(each);
    }
    if (this.#due.size === 0 && this.#kept.size === 0) return 'done';
    const view = await readView();
    if (!isDeepStrictEqual(view, this.#view)) {
      for (const each of this.#kept.values()) this.#due.add(each);
      this.#kept.clear();
    }
    this.#view = view;
    const endsAt = performance.now() + ROUND_MS;
    for (let next = this.#due.take(); next !== undefined; next = this.#due.take()) {
      await this.#decide(next, view);
      this.#judged.notify();
      if (performance.now() >= endsAt) break;
      // The watches have their turn: a request of somebody else may have arrived.
      await turn();
    }
    if (this.#due.size > 0) return 'more';
    if (this.#failed.length > 0) return 'failed';
    return this.#kept.size > 0 ? 'left' : 'done';
  }

  async #decide(pending: Pending, view: View): Promise<void> {
    const { csr, object } = pending;
    const judgement = this.#options.judge(csr, view, new Date());
    if (judgement.verdict === 'leave') {
      const isExpected = this.#options.isExpected(csr);
      if (isExpected && CHANGING.includes(judgement.rule)) this.#keep(pending);
      this.#report(pending, judgement, isExpected);
    } else if (object !== undefined) {
      await this.#options.approving?.(csr, view);
      const outcome = await this.#approve(object);
      if (outcome === undefined) return;
      if (outcome.verdict === 'failed') this.#failed.push(pending);
      this.#report(pending, outcome, true);
      if (outcome.verdict === 'approve') this.#options.approved?.(csr, view);
    }
  }

  /** Instead of the oldest one of the requestor, if there are too many. */
  #keep(pending: Pending): void {
    const own = [...this.#kept.values()].filter(({ requestor }) => requestor === pending.requestor);
    const [oldest] = own;
    if (oldest !== undefined && own.length >= KEPT_OF_ONE) this.#kept.delete(oldest.name);
    this.#kept.set(pending.name, pending);
  }

  /**
   * Undefined if the request was changed or deleted in between: the watch reports
   * its new state.
   */
  async #approve(
    request: CertificateSigningRequest,
  ): Promise<Exclude<Decision['judgement'], { verdict: 'leave' }> | undefined> {
    const place = { name: request.metadata.name, subresource: 'approval' };
    const limits = { signal: this.#options.signal, deadlineMs: APPROVE_MS };
    try {
      const body = approved(request, this.#options.approval(request), new Date());
      await this.#client.replace(resources.certificateSigningRequests, place, body, limits);
      return { verdict: 'approve' };
    } catch (error) {
      if (!isKubeError(error)) throw error;
      if (error.kind === 'conflict' || error.kind === 'not-found') return undefined;
      return { verdict: 'failed', rule: 'api', explanation: shortened(error.message) };
    }
  }

  #report(
    { name, id, requestor, csr }: Pending,
    judgement: Decision['judgement'],
    isExpected: boolean,
  ): void {
    const decision = { request: name, requestor, signer: csr.signerName, judgement };
    const text = JSON.stringify([id, judgement]);
    const admitted = this.#reports.admit(decision, text, isExpected);
    if (admitted !== undefined) this.#options.report(admitted);
  }
}

/** A request that is to be judged, or to be judged again. */
interface Pending {
  readonly name: string;
  readonly requestor: string;
  /** That are kept of it. */
  readonly bytes: number;
  readonly id: string;
  readonly resourceVersion: string | undefined;
  readonly csr: SigningRequest;
  /** Undefined if it is too long to be approved. */
  readonly object: CertificateSigningRequest | undefined;
}

function pendingOf(request: CertificateSigningRequest): Pending {
  const csr = signingRequestOf(request);
  return {
    name: csr.name,
    requestor: csr.username,
    bytes: csr.isTooLong ? 0 : csr.bytes,
    id: idOf(request),
    resourceVersion: request.metadata.resourceVersion,
    csr,
    object: csr.isTooLong ? undefined : request,
  };
}

/** A request that was deleted and re-created under the same name is a different one. */
const idOf = ({ metadata }: CertificateSigningRequest): string => metadata.uid ?? metadata.name;

/** Whether an object that was listed again is the one that is known. */
const isSame = (known: Pending, request: CertificateSigningRequest): boolean =>
  known.id === idOf(request) &&
  known.resourceVersion !== undefined &&
  known.resourceVersion === request.metadata.resourceVersion;

function isDecided({ status }: CertificateSigningRequest): boolean {
  return (status?.conditions ?? []).length > 0 || status?.certificate !== undefined;
}

/** The request in the form that the approval subresource expects. */
function approved(
  request: CertificateSigningRequest,
  approval: ReturnType<PendingOptions<unknown>['approval']>,
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
