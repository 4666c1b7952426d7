import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../base/errors/failure.ts';
import type { Limits } from '../../base/wait/limits.ts';
import { backoffMs } from './backoff.ts';
import type { KubeClient, Selection } from './client.ts';
import { isKubeError, type KubeError } from './kube-error.ts';
import type { KubeObject, Resource } from './resources.ts';

/** What is known about the selected objects at one moment. */
export interface ObjectSnapshot<T> {
  /**
   * By `namespace/name`, or by name if the kind is not namespaced. Only valid until the next snapshot
   * is requested: a copy after each change would cost as much as there are objects.
   */
  readonly objects: ReadonlyMap<string, T>;
  /** The key of the only object that has changed, or was removed; undefined if any may have. */
  readonly changed?: string;
  /** Set while the API does not respond; the objects are those seen last. */
  readonly lost?: KubeError;
}

/** What happens to the selected objects, in the order in which it has to be taken in. */
export type ObjectChange<T> =
  /** A list of everything begins: what is not found until `listed` does not exist any more. */
  | { readonly type: 'listing' }
  | { readonly type: 'listed' }
  | { readonly type: 'found' | 'changed' | 'removed'; readonly object: T }
  /** The API does not respond, and everything is listed again once it does. */
  | { readonly type: 'lost'; readonly error: KubeError };

/** One page of a list may take this long. */
const listDeadlineMs = 30_000;
/** A watch that lasted longer than this was healthy: the back-off is reset. */
const healthyMs = 5000;

/**
 * Every selected object, and then each change, until the signal fires; nothing is kept here. When a watch drops,
 * everything is listed again, because the API may return with an older database. Refusals are treated alike: an
 * API server that has just started may refuse what it will soon allow.
 */
export async function* watchChanges<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  selection: Selection,
  signal: AbortSignal,
): AsyncGenerator<ObjectChange<T>> {
  let resourceVersion: string | undefined;
  let failures = 0;
  for (;;) {
    const began = performance.now();
    try {
      resourceVersion ??= yield* listAll(client, resource, selection, signal);
      for await (const event of client.watch(resource, selection, resourceVersion, signal)) {
        if (event.type === 'bookmark') {
          resourceVersion = event.resourceVersion;
          continue;
        }
        resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion;
        yield event;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!isKubeError(error)) throw error;
      resourceVersion = undefined;
      if (error.kind !== 'expired') yield { type: 'lost', error };
      failures = performance.now() - began > healthyMs ? 0 : failures + 1;
      await sleep(backoffMs(failures, error.retryAfterMs), undefined, { signal });
    }
  }
}

/** Returns the version from which changes are to be watched. */
async function* listAll<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  selection: Selection,
  signal: AbortSignal,
): AsyncGenerator<ObjectChange<T>, string> {
  let resourceVersion = '';
  yield { type: 'listing' };
  for await (const page of client.pages(resource, selection, {
    signal,
    deadlineMs: listDeadlineMs,
  })) {
    for (const object of page.items) yield { type: 'found', object };
    resourceVersion = page.resourceVersion;
  }
  yield { type: 'listed' };
  return resourceVersion;
}

/**
 * All selected objects now, and again after each change, until the signal fires.
 * When a watch drops, one snapshot says `lost` and everything is listed again, as watchChanges does.
 */
export async function* watchObjects<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  selection: Selection,
  signal: AbortSignal,
): AsyncGenerator<ObjectSnapshot<T>> {
  let objects = new Map<string, T>();
  let listed = new Map<string, T>();
  for await (const change of watchChanges(client, resource, selection, signal)) {
    switch (change.type) {
      case 'listing':
        listed = new Map();
        break;
      case 'found':
        listed.set(keyOf(change.object), change.object);
        break;
      case 'listed':
        objects = listed;
        yield { objects };
        break;
      case 'lost':
        yield { objects, lost: change.error };
        break;
      default: {
        const changed = keyOf(change.object);
        if (change.type === 'removed') objects.delete(changed);
        else objects.set(changed, change.object);
        yield { objects, changed };
      }
    }
  }
}

interface WatchWait<T> extends Limits {
  /** What is waited for, as a noun phrase for the error at the deadline. */
  readonly what: string;
  /** Describes the objects, for people; the error at the deadline includes the last description. */
  readonly describe: (objects: ReadonlyMap<string, T>) => string;
  /** Called with that description whenever it changes. */
  readonly report: (observed: string) => void;
}

/**
 * Watches the selected objects until `decide` returns a result, and returns it.
 * @throws Failure `deadline` with the last observed state.
 */
export async function watchUntil<T extends KubeObject, R>(
  client: KubeClient,
  resource: Resource<T>,
  selection: Selection,
  decide: (objects: ReadonlyMap<string, T>) => R | undefined,
  { signal, deadlineMs, what, describe, report }: WatchWait<T>,
): Promise<R> {
  const deadline = AbortSignal.timeout(Math.max(1, Math.ceil(deadlineMs)));
  let observed = 'nothing: the API server has not answered';
  try {
    const both = AbortSignal.any([signal, deadline]);
    for await (const { objects, lost } of watchObjects(client, resource, selection, both)) {
      const result = lost === undefined ? decide(objects) : undefined;
      if (result !== undefined) return result;
      const now = lost === undefined ? describe(objects) : lost.message;
      if (now !== observed) report(now);
      observed = now;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!deadline.aborted) throw error;
  }
  throw new Failure('deadline', `waited ${Math.round(deadlineMs / 1000)}s for ${what}`, {
    found: observed,
  });
}

function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
