import { isDeepStrictEqual } from 'node:util';
import { ChangeSignal } from '../../base/wait/change-signal.ts';
import type { KubeClient, Selection } from '../../clients/kube/client.ts';
import {
  type CertificateSigningRequest,
  type Node,
  resources,
} from '../../clients/kube/resources.ts';
import { type ObjectChange, watchChanges } from '../../clients/kube/watch-objects.ts';
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
    let listed = new Map<string, NodeView>();
    const changed = (views: ReadonlyMap<string, NodeView>) => {
      // Kubelets also update fields that do not matter here, such as their heartbeat.
      if (isDeepStrictEqual(views, nodes)) return;
      nodes = views;
      changes.notify();
    };
    for await (const change of watchChanges(client, resources.nodes, options.nodes, signal)) {
      if (change.type === 'listing') listed = new Map();
      else if (change.type === 'found')
        listed.set(change.object.metadata.name, nodeView(change.object));
      else if (change.type === 'listed') changed(listed);
      else if (change.type !== 'lost') changed(withNode(nodes, change));
    }
  };
  const followAll = async () => {
    const { certificateSigningRequests: resource } = resources;
    for await (const change of watchChanges(client, resource, options.requests, signal)) {
      if (change.type === 'listing') pending.beginList();
      else if (change.type === 'listed') pending.endList();
      else if (change.type !== 'lost') {
        const { name } = change.object.metadata;
        if (change.type === 'removed') pending.replace(name, undefined);
        else if (isOurs(change.object)) pending.replace(name, change.object);
        changes.notify();
        await pending.room(signal);
      }
    }
  };
  const work = async () => {
    let again: NodeJS.Timeout | undefined;
    for (;;) {
      await changes.next(signal);
      const result = await pending.decide(() => viewOf(nodes));
      clearTimeout(again);
      if (result === 'more') changes.notify();
      if (result === 'done' || result === 'more') continue;
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

function withNode(
  nodes: ReadonlyMap<string, NodeView>,
  { type, object }: Extract<ObjectChange<Node>, { readonly object: Node }>,
): ReadonlyMap<string, NodeView> {
  const { name } = object.metadata;
  const view = type === 'removed' ? undefined : nodeView(object);
  if (isDeepStrictEqual(nodes.get(name), view)) return nodes;
  const others = [...nodes].filter(([other]) => other !== name);
  return new Map(view === undefined ? others : [...others, [name, view]]);
}
