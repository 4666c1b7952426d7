import { ChangeSignal } from '../kube/change-signal.ts';
import type { KubeClient } from '../kube/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { type CertificateSigningRequest, resources } from '../kube/resources.ts';
import { watchObjects } from '../kube/watch-objects.ts';
import type { Decision } from './decision.ts';
import { judge, servingSigner, userOfNode } from './judge.ts';
import { type CertificateCache, readSigningRequest } from './signing-request.ts';
import { type HostView, type NodeView, nodeView } from './views.ts';

export interface ApproverOptions {
  readonly signal: AbortSignal;
  readonly nodeName: string;
  /** Asked at each judgement, since the host's names and addresses change while it comes up. */
  readonly host: () => Promise<HostView>;
  readonly report: (decision: Decision) => void;
  /** Called for each serving certificate of this node that is issued; true ends the approver. */
  readonly issued?: (request: CertificateSigningRequest) => boolean | Promise<boolean>;
}

const approveMs = 10_000;
const retryMs = 1000;

/**
 * Approves this node's requests for serving certificates, and nothing else, until
 * the signal fires or `issued` says that it is enough. Everything is judged again
 * whenever a request or the node's object changes.
 */
export async function approveServingRequests(
  client: KubeClient,
  options: ApproverOptions,
): Promise<void> {
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  const approver = new Approver(client, { ...options, signal });
  try {
    await Promise.race([approver.followNode(), approver.followRequests(), approver.work()]);
  } finally {
    ended.abort();
  }
}

class Approver {
  readonly #client: KubeClient;
  readonly #options: ApproverOptions;
  readonly #changes = new ChangeSignal();
  readonly #reported = new Map<string, string>();
  readonly #issued = new Set<string>();
  readonly #certificates: CertificateCache = new Map();
  #requests: readonly CertificateSigningRequest[] = [];
  #node: NodeView | undefined;

  constructor(client: KubeClient, options: ApproverOptions) {
    this.#client = client;
    this.#options = options;
  }

  async followNode(): Promise<void> {
    const { nodeName, signal } = this.#options;
    const own = { fieldSelector: `metadata.name=${nodeName}` };
    for await (const { objects } of watchObjects(this.#client, resources.nodes, own, signal)) {
      const node = objects.get(nodeName);
      const view = node === undefined ? undefined : nodeView(node);
      if (JSON.stringify(view) === JSON.stringify(this.#node)) continue;
      this.#node = view;
      this.#changes.notify();
    }
  }

  async followRequests(): Promise<void> {
    const { certificateSigningRequests } = resources;
    const { signal } = this.#options;
    for await (const { objects } of watchObjects(
      this.#client,
      certificateSigningRequests,
      {},
      signal,
    )) {
      this.#requests = [...objects.values()];
      this.#changes.notify();
    }
  }

  /** Judges everything after each change; ends when `issued` says so. */
  async work(): Promise<void> {
    for (;;) {
      await this.#changes.next(this.#options.signal);
      for (const request of this.#requests) {
        if (await this.#isEnough(request)) return;
        await this.#decide(request);
      }
    }
  }

  async #decide(request: CertificateSigningRequest): Promise<void> {
    const { host, nodeName } = this.#options;
    if (isDecided(request)) return;
    const read = await readSigningRequest(request, this.#certificates);
    const judgement = judge(read, await host(), this.#node, new Date());
    if (judgement.verdict === 'leave') this.#report(request, judgement);
    else await this.#approve(request, nodeName);
  }

  async #approve(request: CertificateSigningRequest, nodeName: string): Promise<void> {
    const { signal } = this.#options;
    const place = { name: request.metadata.name, subresource: 'approval' };
    try {
      const body = approved(request, nodeName, new Date());
      const limits = { signal, deadlineMs: approveMs };
      await this.#client.replace(resources.certificateSigningRequests, place, body, limits);
      this.#report(request, { verdict: 'approve' });
    } catch (error) {
      if (!isKubeError(error)) throw error;
      // Changed or removed meanwhile: the watch brings the newer one.
      if (error.kind === 'conflict' || error.kind === 'not-found') return;
      this.#report(request, { verdict: 'failed', rule: 'api', explanation: error.message });
      setTimeout(() => this.#changes.notify(), retryMs).unref();
    }
  }

  async #isEnough(request: CertificateSigningRequest): Promise<boolean> {
    const { issued, nodeName } = this.#options;
    const { spec, status, metadata } = request;
    const own = spec.signerName === servingSigner && spec.username === userOfNode(nodeName);
    if (!own || status?.certificate === undefined || issued === undefined) return false;
    const id = identityOf(metadata);
    if (this.#issued.has(id)) return false;
    this.#issued.add(id);
    return issued(request);
  }

  #report({ metadata, spec }: CertificateSigningRequest, judgement: Decision['judgement']): void {
    const id = identityOf(metadata);
    const text = JSON.stringify(judgement);
    if (this.#reported.get(id) === text) return;
    this.#reported.set(id, text);
    const { username: requestor = '', signerName: signer } = spec;
    this.#options.report({ request: metadata.name, requestor, signer, judgement });
  }
}

/** A request that was deleted and created again under its name is another one. */
function identityOf({ uid, name }: CertificateSigningRequest['metadata']): string {
  return uid ?? name;
}

function isDecided({ status }: CertificateSigningRequest): boolean {
  return (status?.conditions ?? []).length > 0 || status?.certificate !== undefined;
}

/** The request as the approval subresource wants it back. */
function approved(request: CertificateSigningRequest, nodeName: string, now: Date) {
  const condition = {
    type: 'Approved',
    status: 'True',
    reason: 'NodeServingCertificate',
    message: `Asked for by node ${nodeName} itself, for the name and addresses that its host has`,
    lastUpdateTime: now.toISOString(),
  };
  return { ...request, status: { ...request.status, conditions: [condition] } };
}
