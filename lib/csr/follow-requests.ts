import { isDeepStrictEqual } from 'node:util';
import { ChangeSignal } from '../kube/change-signal.ts';
import type { KubeClient, Selection } from '../kube/client.ts';
import { type CertificateSigningRequest, resources } from '../kube/resources.ts';
import { watchObjects } from '../kube/watch-objects.ts';
import type { PendingRequests } from './pending-requests.ts';
import { type NodeView, nodeView } from './views.ts';

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** The requests that are followed at all. */
  readonly requests: Selection;
  /** The Nodes that the judgement depends on. */
  readonly nodes: Selection;
  /** Which of the selected requests are decided here; default: all. */
  readonly isOurs?: (request: CertificateSigningRequest) => boolean;
}

/** After this time, approvals that the API did not accept are sent again. */
const RETRY_MS = 1000;
/** After this time the host is compared again with requests that its state may have kept pending. */
const RECHECK_MS = 15_000;

/**
 * Decides each request when it appears, and again when a selected Node or the host has changed, until
 * the signal fires.
 * @throws the reason of the signal
 */
export async function followRequests<View>(
  client: KubeClient,
  pending: PendingRequests<View>,
  viewOf: (nodes: ReadonlyMap<string, NodeView>) => Promise<View>,
  { isOurs = () => true, ...options }: FollowOptions,
): Promise<void> {
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  const changes = new ChangeSignal();
  let nodes: ReadonlyMap<string, NodeView> = new Map();

  const followNodes = async () => {
    for await (const { objects } of watchObjects(client, resources.nodes, options.nodes, signal)) {
      const views = new Map([...objects].map(([name, node]) => [name, nodeView(node)]));
      // Kubelets also update fields that do not matter here, such as their heartbeat.
      if (isDeepStrictEqual(views, nodes)) continue;
      nodes = views;
      changes.notify();
    }
  };
  const followAll = async () => {
    const { certificateSigningRequests: resource } = resources;
    const snapshots = watchObjects(client, resource, options.requests, signal);
    for await (const { objects, changed } of snapshots) {
      if (changed === undefined) {
        pending.replaceAll(new Map([...objects].filter(([, request]) => isOurs(request))));
      } else {
        const request = objects.get(changed);
        if (request === undefined || isOurs(request)) pending.replace(changed, request);
      }
      changes.notify();
    }
  };
  const work = async () => {
    let again: NodeJS.Timeout | undefined;
    for (;;) {
      await changes.next(signal);
      const result = await pending.decide(() => viewOf(nodes));
      clearTimeout(again);
      if (result === 'done') continue;
      const delayMs = result === 'failed' ? RETRY_MS : RECHECK_MS;
      again = setTimeout(() => changes.notify(), delayMs).unref();
    }
  };
  try {
    await Promise.race([followNodes(), followAll(), work()]);
  } finally {
    ended.abort();
  }
}
