import { isDeepStrictEqual } from 'node:util';
import { ChangeSignal } from '../kube/change-signal.ts';
import type { KubeClient, Selection } from '../kube/client.ts';
import { type CertificateSigningRequest, resources } from '../kube/resources.ts';
import { watchObjects } from '../kube/watch-objects.ts';
import { type NodeView, nodeView } from './views.ts';

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** The Nodes that the judgement depends on. */
  readonly nodes: Selection;
  /** Judges all requests; false if they must be reviewed again. */
  readonly review: (
    requests: Iterable<CertificateSigningRequest>,
    nodes: ReadonlyMap<string, NodeView>,
  ) => Promise<boolean>;
}

const retryMs = 1000;

/**
 * Reviews all requests whenever one of them or a selected Node changes, until the signal fires.
 * @throws the reason of the signal
 */
export async function followRequests(client: KubeClient, options: FollowOptions): Promise<void> {
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  const follower = new Follower(client, { ...options, signal });
  try {
    await Promise.race([follower.followNodes(), follower.followRequests(), follower.work()]);
  } finally {
    ended.abort();
  }
}

class Follower {
  readonly #client: KubeClient;
  readonly #options: FollowOptions;
  readonly #changes = new ChangeSignal();
  #requests: ReadonlyMap<string, CertificateSigningRequest> = new Map();
  #nodes: ReadonlyMap<string, NodeView> = new Map();

  constructor(client: KubeClient, options: FollowOptions) {
    this.#client = client;
    this.#options = options;
  }

  async followNodes(): Promise<void> {
    const { nodes, signal } = this.#options;
    for await (const { objects } of watchObjects(this.#client, resources.nodes, nodes, signal)) {
      const views = new Map([...objects].map(([name, node]) => [name, nodeView(node)]));
      // Kubelets also update fields that do not matter here, such as their heartbeat.
      if (isDeepStrictEqual(views, this.#nodes)) continue;
      this.#nodes = views;
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
      const isComplete = await this.#options.review(this.#requests.values(), this.#nodes);
      if (!isComplete) setTimeout(() => this.#changes.notify(), retryMs).unref();
    }
  }
}
