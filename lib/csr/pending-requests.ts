import { setImmediate as turn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { KubeClient } from '../kube/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { type CertificateSigningRequest, resources } from '../kube/resources.ts';
import type { Judgement } from './checks.ts';
import type { Decision } from './decision.ts';
import { type SigningRequest, signingRequestOf } from './signing-request.ts';

export interface PendingOptions<View> {
  readonly signal: AbortSignal;
  readonly judge: (request: SigningRequest, view: View, now: Date) => Judgement;
  /** Whether it claims to come from a host whose requests may be approved: these are decided first. */
  readonly isExpected: (request: SigningRequest, view: View) => boolean;
  /** What an approval says in the API. */
  readonly approval: (request: CertificateSigningRequest) => {
    readonly reason: string;
    readonly message: string;
  };
  readonly report: (decision: Decision) => void;
  /** Is told each request that the API server has accepted the approval of. */
  readonly approved?: (request: SigningRequest, view: View) => void;
}

const APPROVE_MS = 10_000;
/** Strangers can send any number of requests; the journal gets so many of them. */
const MOST_STRANGERS = 100;
/** After so many, the watches have their turn: an expected request may have arrived. */
const AT_ONCE = 50;

/**
 * The undecided requests of the API. Each is judged when it is new, or when what it is compared with
 * has changed; so what others leave pending costs nothing. Each decision is reported once.
 */
export class PendingRequests<View> {
  readonly #client: KubeClient;
  readonly #options: PendingOptions<View>;
  readonly #undecided = new Map<string, CertificateSigningRequest>();
  /** Names of those to be judged. */
  readonly #due = new Set<string>();
  /** Names of those that were expected, and left. */
  readonly #left = new Set<string>();
  /** The last report about each, by name. */
  readonly #reported = new Map<string, string>();
  #view: View | undefined;
  #strangers = 0;

  constructor(client: KubeClient, options: PendingOptions<View>) {
    this.#client = client;
    this.#options = options;
  }

  /** All requests as the API lists them. */
  replaceAll(requests: ReadonlyMap<string, CertificateSigningRequest>): void {
    for (const name of this.#undecided.keys()) {
      if (!requests.has(name)) this.replace(name, undefined);
    }
    for (const [name, request] of requests) this.replace(name, request);
    for (const name of this.#reported.keys()) if (!requests.has(name)) this.#reported.delete(name);
  }

  /** One request as it is now; undefined if it was deleted. */
  replace(name: string, request: CertificateSigningRequest | undefined): void {
    const before = this.#undecided.get(name);
    const isGone = request === undefined || isDecided(request);
    if (request === undefined) this.#reported.delete(name);
    if (isGone) {
      this.#undecided.delete(name);
      this.#due.delete(name);
      this.#left.delete(name);
    } else {
      this.#undecided.set(name, request);
      if (before === undefined || !isSame(before, request)) this.#due.add(name);
    }
  }

  /**
   * Decides what is due. The view is read once for all of it, and not at all if nothing is due.
   *
   * @returns `failed` if the API did not accept an approval, and `left` if an expected request is
   *   pending: then it has to be called again after a while.
   */
  async decide(readView: () => Promise<View>): Promise<'done' | 'left' | 'failed'> {
    if (this.#due.size > 0 || this.#left.size > 0) {
      const view = await readView();
      if (!isDeepStrictEqual(view, this.#view)) {
        for (const name of this.#undecided.keys()) this.#due.add(name);
      }
      this.#view = view;
      const failed = await this.#decideDue(view);
      for (const name of failed) if (this.#undecided.has(name)) this.#due.add(name);
      if (failed.length > 0) return 'failed';
    }
    return this.#left.size > 0 ? 'left' : 'done';
  }

  /** Returns the names of those whose approval was not accepted. */
  async #decideDue(view: View): Promise<string[]> {
    const failed: string[] = [];
    const strangers: Due[] = [];
    const decide = async (due: Due) => {
      if ((await this.#decide(due, view)) === 'failed') failed.push(due.request.metadata.name);
    };
    do {
      for (const due of this.#takeDue(view)) {
        if (due.isExpected) await decide(due);
        else strangers.push(due);
      }
      for (const due of strangers.splice(0, AT_ONCE)) await decide(due);
      if (strangers.length > 0) await turn();
    } while (strangers.length > 0 || this.#due.size > 0);
    return failed;
  }

  *#takeDue(view: View): Generator<Due> {
    for (const name of this.#due) {
      this.#due.delete(name);
      const request = this.#undecided.get(name);
      if (request === undefined) continue;
      const csr = signingRequestOf(request);
      yield { request, csr, isExpected: this.#options.isExpected(csr, view) };
    }
  }

  async #decide(due: Due, view: View): Promise<Decision['judgement']['verdict'] | undefined> {
    const { request, csr, isExpected } = due;
    const { name } = request.metadata;
    // It may have been deleted or changed since it was taken.
    if (this.#undecided.get(name) !== request) return undefined;
    const judged = this.#options.judge(csr, view, new Date());
    if (judged.verdict === 'leave' && isExpected) this.#left.add(name);
    else this.#left.delete(name);
    const judgement = judged.verdict === 'approve' ? await this.#approve(request) : judged;
    if (judgement !== undefined) this.#report(due, judgement);
    if (judgement?.verdict === 'approve') this.#options.approved?.(csr, view);
    return judgement?.verdict;
  }

  /**
   * Undefined if the request was changed or deleted in between: the watch reports
   * its new state.
   */
  async #approve(request: CertificateSigningRequest): Promise<Decision['judgement'] | undefined> {
    const place = { name: request.metadata.name, subresource: 'approval' };
    const limits = { signal: this.#options.signal, deadlineMs: APPROVE_MS };
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

  #report({ request, isExpected }: Due, judgement: Decision['judgement']): void {
    if (!isExpected && this.#strangers >= MOST_STRANGERS) return;
    const { metadata, spec } = request;
    const text = JSON.stringify([idOf(request), judgement]);
    if (this.#reported.get(metadata.name) === text) return;
    this.#reported.set(metadata.name, text);
    if (!isExpected) this.#strangers += 1;
    const isLast = !isExpected && this.#strangers === MOST_STRANGERS;
    this.#options.report({
      request: metadata.name,
      requestor: spec.username ?? '',
      signer: spec.signerName,
      judgement,
      ...(isLast ? { isLast } : {}),
    });
  }
}

/** A request that is to be judged. */
interface Due {
  readonly request: CertificateSigningRequest;
  readonly csr: SigningRequest;
  readonly isExpected: boolean;
}

/** A request that was deleted and re-created under the same name is a different one. */
const idOf = ({ metadata }: CertificateSigningRequest): string => metadata.uid ?? metadata.name;

/** Whether an object that was listed again is the one that is known. */
const isSame = (one: CertificateSigningRequest, other: CertificateSigningRequest): boolean =>
  idOf(one) === idOf(other) &&
  one.metadata.resourceVersion !== undefined &&
  one.metadata.resourceVersion === other.metadata.resourceVersion;

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
