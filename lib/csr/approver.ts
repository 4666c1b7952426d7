import { isDeepStrictEqual } from 'node:util';
import { ChangeSignal } from '../kube/change-signal.ts';
import type { KubeClient } from '../kube/client.ts';
import { type CertificateSigningRequest, resources } from '../kube/resources.ts';
import { watchObjects } from '../kube/watch-objects.ts';
import { Review, type ReviewOptions } from './review.ts';
import { type NodeView, nodeView } from './views.ts';

export interface ApproverOptions extends ReviewOptions {
  readonly nodeName: string;
}

const retryMs = 1000;

/**
 * Approves this node's requests for serving certificates, and nothing else, until
 * the signal fires. Everything is judged again whenever a request or the node's object changes.
 * @throws the reason of the signal
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
  readonly #review: Review;
  readonly #changes = new ChangeSignal();
  #requests: ReadonlyMap<string, CertificateSigningRequest> = new Map();
  #node: NodeView | undefined;

  constructor(client: KubeClient, options: ApproverOptions) {
    this.#client = client;
    this.#options = options;
    this.#review = new Review(client, options);
  }

  async followNode(): Promise<void> {
    const { nodeName, signal } = this.#options;
    const own = { fieldSelector: `metadata.name=${nodeName}` };
    for await (const { objects } of watchObjects(this.#client, resources.nodes, own, signal)) {
      const node = objects.get(nodeName);
      const view = node === undefined ? undefined : nodeView(node);
      // The kubelet also updates fields that do not matter here, such as its heartbeat.
      if (isDeepStrictEqual(view, this.#node)) continue;
      this.#node = view;
      this.#changes.notify();
    }
  }

  async followRequests(): Promise<void> {
    const { certificateSigningRequests: all } = resources;
    for await (const { objects } of watchObjects(this.#client, all, {}, this.#options.signal)) {
      this.#requests = objects;
      this.#changes.notify();
    }
  }

  /** Reviews all requests after each change. */
  async work(): Promise<never> {
    for (;;) {
      await this.#changes.next(this.#options.signal);
      const isComplete = await this.#review.run(this.#requests.values(), this.#node);
      if (!isComplete) setTimeout(() => this.#changes.notify(), retryMs).unref();
    }
  }
}
