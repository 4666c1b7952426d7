import { z } from 'zod';
import type { Limits } from '../wait/limits.ts';
import { errorFromAnswer, errorFromWatch, KubeError } from './kube-error.ts';
import { type Access, readKubeconfig } from './kubeconfig.ts';
import { type KubeObject, type Place, type Resource, resourcePath } from './resources.ts';
import { type Answer, type Call, Transport } from './transport.ts';

/** Which objects of a resource: all without a namespace, one with `metadata.name=` as field selector. */
export interface Selection {
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

export interface ObjectList<T> {
  readonly resourceVersion: string;
  readonly items: readonly T[];
}

export type WatchEvent<T> =
  | { readonly type: 'changed' | 'removed'; readonly object: T }
  | { readonly type: 'bookmark'; readonly resourceVersion: string };

const listSchema = z.looseObject({
  metadata: z.looseObject({ resourceVersion: z.string(), continue: z.string().optional() }),
  items: z.array(z.unknown()),
});
const eventSchema = z.object({ type: z.string(), object: z.unknown() });
const bookmarkSchema = z.looseObject({ metadata: z.looseObject({ resourceVersion: z.string() }) });

/** Objects in one page of a list, so that neither side holds thousands in one answer. */
const pageSize = 500;
/** The server ends a watch after this long; it is continued from where it stood. */
const watchSeconds = 240;

/** A client for the API server that a kubeconfig names. */
export async function kubeClient(kubeconfigPath: string): Promise<KubeClient> {
  return new KubeClient(await readKubeconfig(kubeconfigPath));
}

/**
 * Requests to one API server. Each has a deadline and a signal, and throws
 * KubeError, or the signal's reason when that ended it.
 */
export class KubeClient {
  readonly #transport: Transport;

  constructor(access: Access) {
    this.#transport = new Transport(access);
  }

  close(): void {
    this.#transport.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** A GET of any path with its status, such as `/readyz?verbose`, without judging it. */
  async raw(path: string, limits: Limits): Promise<Answer> {
    return this.#transport.exchange({ method: 'GET', path }, limits);
  }

  /** A successful answer of any path as JSON. */
  async json(call: Call, limits: Limits): Promise<unknown> {
    const answer = await this.#transport.exchange(call, limits);
    if (answer.code >= 300) throw answerError(call)(answer);
    try {
      return JSON.parse(answer.body);
    } catch (cause) {
      throw new KubeError('busy', `${describe(call)}: the answer is not JSON`, { cause });
    }
  }

  /** A successful answer as it comes, such as a pod's log. */
  bytes(call: Call, limits: Limits): AsyncGenerator<Uint8Array> {
    return this.#transport.bytes(call, limits, answerError(call));
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    place: Place & { name: string },
    limits: Limits,
  ) {
    const path = resourcePath(resource, place);
    return resource.schema.parse(await this.json({ method: 'GET', path }, limits));
  }

  /** Like `get`, or undefined when the object does not exist. */
  async find<T extends KubeObject>(
    resource: Resource<T>,
    place: Place & { name: string },
    limits: Limits,
  ): Promise<T | undefined> {
    try {
      return await this.get(resource, place, limits);
    } catch (error) {
      if (error instanceof KubeError && error.kind === 'not-found') return undefined;
      throw error;
    }
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    place: Place,
    body: unknown,
    limits: Limits,
  ) {
    const path = resourcePath(resource, place);
    return resource.schema.parse(await this.json({ method: 'POST', path, body }, limits));
  }

  /** Replaces an object or a subresource; refused with `conflict` when `body` is not the newest version. */
  async replace<T extends KubeObject>(
    resource: Resource<T>,
    place: Place & { name: string },
    body: unknown,
    limits: Limits,
  ): Promise<T> {
    const path = resourcePath(resource, place);
    return resource.schema.parse(await this.json({ method: 'PUT', path, body }, limits));
  }

  /** Deletes an object; false when there was none. */
  async remove(
    resource: Resource,
    place: Place & { name: string },
    limits: Limits,
  ): Promise<boolean> {
    try {
      await this.json({ method: 'DELETE', path: resourcePath(resource, place) }, limits);
      return true;
    } catch (error) {
      if (error instanceof KubeError && error.kind === 'not-found') return false;
      throw error;
    }
  }

  /** Everything selected, page by page, as of one resource version. */
  async list<T extends KubeObject>(
    resource: Resource<T>,
    selection: Selection,
    limits: Limits,
  ): Promise<ObjectList<T>> {
    const items: T[] = [];
    const endsAt = performance.now() + limits.deadlineMs;
    for (let next: string | undefined; ; ) {
      const path = collectionPath(resource, selection, {
        limit: String(pageSize),
        ...(next === undefined ? {} : { continue: next }),
      });
      const page = listSchema.parse(
        await this.json(
          { method: 'GET', path },
          { ...limits, deadlineMs: endsAt - performance.now() },
        ),
      );
      items.push(...page.items.map((item) => resource.schema.parse(item)));
      next = page.metadata.continue || undefined;
      if (next === undefined) return { resourceVersion: page.metadata.resourceVersion, items };
    }
  }

  /** Changes after a resource version, until the server ends the watch after some minutes. */
  async *watch<T extends KubeObject>(
    resource: Resource<T>,
    selection: Selection,
    resourceVersion: string,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>> {
    const path = collectionPath(resource, selection, {
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(watchSeconds),
      resourceVersion,
    });
    const call: Call = { method: 'GET', path };
    // Longer than the server's own limit: only a connection that died in silence reaches it.
    const limits = { signal, deadlineMs: (watchSeconds + 30) * 1000 };
    for await (const line of this.#transport.lines(call, limits, answerError(call))) {
      yield watchEvent(resource, describe(call), line);
    }
  }
}

function watchEvent<T extends KubeObject>(
  resource: Resource<T>,
  request: string,
  line: string,
): WatchEvent<T> {
  const { type, object } = eventSchema.parse(JSON.parse(line));
  if (type === 'ERROR') throw errorFromWatch(request, object);
  if (type === 'BOOKMARK') {
    return {
      type: 'bookmark',
      resourceVersion: bookmarkSchema.parse(object).metadata.resourceVersion,
    };
  }
  return {
    type: type === 'DELETED' ? 'removed' : 'changed',
    object: resource.schema.parse(object),
  };
}

function collectionPath(
  resource: Resource,
  selection: Selection,
  query: Record<string, string>,
): string {
  const { namespace, fieldSelector, labelSelector } = selection;
  const all = new URLSearchParams({
    ...query,
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
  });
  return `${resourcePath(resource, namespace === undefined ? {} : { namespace })}?${all}`;
}

const describe = ({ method, path }: Call) => `${method} ${path.split('?')[0]}`;

const answerError = (call: Call) => (answer: Answer) =>
  errorFromAnswer(describe(call), answer.code, answer.body, answer.retryAfter);
