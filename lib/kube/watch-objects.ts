import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../errors/failure.ts';
import type { Limits } from '../wait/limits.ts';
import { backoffMs } from './backoff.ts';
import type { KubeClient, Selection } from './client.ts';
import { isKubeError, type KubeError } from './kube-error.ts';
import type { KubeObject, Resource } from './resources.ts';

/** What is known about the selected objects at one moment. */
export interface Snapshot<T> {
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

/** One list of everything may take this long. */
const listDeadlineMs = 30_000;
/** A watch that lasted longer than this was healthy: the back-off is reset. */
const healthyMs = 5000;

/**
 * All selected objects now, and again after each change, until the signal fires.
 * When a watch drops, one snapshot says `lost` and everything is listed again,
 * because the API may return with an older database. Refusals are treated alike: an
 * API server that has just started may refuse what it will soon allow.
 */
export async function* watchObjects<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  selection: Selection,
  signal: AbortSignal,
): AsyncGenerator<Snapshot<T>> {
  let objects = new Map<string, T>();
  let resourceVersion: string | undefined;
  let failures = 0;
  for (;;) {
    const began = performance.now();
    try {
      if (resourceVersion === undefined) {
        const list = await client.list(resource, selection, { signal, deadlineMs: listDeadlineMs });
        objects = new Map(list.items.map((object) => [keyOf(object), object]));
        resourceVersion = list.resourceVersion;
        yield { objects };
      }
      for await (const event of client.watch(resource, selection, resourceVersion, signal)) {
        if (event.type === 'bookmark') {
          resourceVersion = event.resourceVersion;
          continue;
        }
        resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion;
        const changed = keyOf(event.object);
        if (event.type === 'removed') objects.delete(changed);
        else objects.set(changed, event.object);
        yield { objects, changed };
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!isKubeError(error)) throw error;
      resourceVersion = undefined;
      if (error.kind !== 'expired') yield { objects, lost: error };
      failures = performance.now() - began > healthyMs ? 0 : failures + 1;
      await sleep(backoffMs(failures, error.retryAfterMs), undefined, { signal });
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
