import { writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import type { Test } from 'tap';
import { type KubeClient, kubeClient } from '../../../../lib/clients/kube/client.ts';
import { adminKubeconfig, serveApi } from '../../gather/cluster/serve-api.ts';
import { isStored, type ServedKind, type Stored, written } from './stored-writes.ts';

export interface ApiRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** A reply other than the store's; `cut` closes the connection without one. */
export type Reply =
  | { readonly code: number; readonly body?: unknown; readonly headers?: Headers }
  | 'cut';
type Headers = Readonly<Record<string, string>>;
export type Rule = (request: ApiRequest) => Reply | undefined | Promise<Reply | undefined>;

/** A Status in the API server's format. */
export const refusal = (code: number, fields: object): Reply => ({
  code,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, ...fields },
});

/**
 * An API server that stores what it is sent and streams changes to its watchers. Rules are tried
 * in order and replace the store's replies; everything else is 404. Of the given kinds, writes are checked as well.
 */
export class FakeApi {
  readonly requests: ApiRequest[] = [];
  /** Fields that writes have lost, because their kind does not know them. */
  readonly pruned: string[] = [];
  readonly #kinds: readonly ServedKind[];
  readonly #objects = new Map<string, Stored>();
  readonly #watches = new Set<{ path: string; query: ApiRequest['query']; to: ServerResponse }>();
  readonly #events: { place: string; version: number; type: string; object: Stored }[] = [];
  readonly #rules: Rule[] = [];
  #version = 100;
  #changesLeft = Number.POSITIVE_INFINITY;

  constructor(kinds: readonly ServedKind[] = []) {
    this.#kinds = kinds;
  }

  /** From that many changes on, nobody gets a reply: to a client it is as if it had been killed behind the last one. */
  endAfter(changes: number): void {
    this.#changesLeft = changes;
  }

  /** New rules are tried before earlier ones. */
  rule(rule: Rule): void {
    this.#rules.unshift(rule);
  }

  /** Stores an object at its path and notifies the watchers. */
  set(path: string, object: Stored): void {
    const type = this.#objects.has(path) ? 'MODIFIED' : 'ADDED';
    const stored = {
      ...object,
      metadata: { uid: path, ...object.metadata, resourceVersion: this.#next() },
    };
    this.#objects.set(path, stored);
    this.#tell(path, type, stored);
  }

  delete(path: string): void {
    const object = this.#objects.get(path);
    this.#objects.delete(path);
    if (object !== undefined) this.#tell(path, 'DELETED', object);
  }

  get(path: string): Stored | undefined {
    return this.#objects.get(path);
  }

  /** Everything that is stored, by its path. */
  all(): ReadonlyMap<string, Stored> {
    return this.#objects;
  }

  /** Sends a line to every watcher of a collection. */
  send(collection: string, event: object): void {
    for (const { path, to } of this.#watches) {
      if (path === collection) to.write(`${JSON.stringify(event)}\n`);
    }
  }

  /** Ends all watches of a collection, like a server that stops. */
  cut(collection: string): void {
    for (const { path, to } of this.#watches) if (path === collection) to.destroy();
  }

  watchers(collection: string): number {
    return [...this.#watches].filter(({ path }) => path === collection).length;
  }

  /** Waits until no watch is open; a watch that is left open fails the test by its timeout. */
  async idle(): Promise<void> {
    while (this.#watches.size > 0) await new Promise((resolve) => setImmediate(resolve));
  }

  async answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(message.url ?? '/', 'https://api');
    const request = {
      method: message.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: message.headers,
      body: message.method === 'GET' ? undefined : await json(message).catch(() => undefined),
    };
    if (this.#changesLeft <= 0) return void response.destroy();
    this.requests.push(request);
    let reply: Reply | undefined;
    for (const rule of this.#rules) {
      reply = await rule(request);
      if (reply !== undefined) break;
    }
    if (reply === undefined && request.query.watch === 'true') this.#watch(request, response);
    else send(response, this.#cutAtEnd(reply ?? this.#fromStore(request)));
  }

  #cutAtEnd(reply: Reply): Reply {
    return this.#changesLeft <= 0 ? 'cut' : reply;
  }

  #watch({ path, query }: ApiRequest, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const watch = { path, query, to: response };
    this.#watches.add(watch);
    response.on('close', () => this.#watches.delete(watch));
    for (const { place, version, type, object } of this.#events) {
      const isNew = version > Number(query.resourceVersion);
      if (isNew && matches(path, query, place, object)) writeEvent(response, type, object);
    }
  }

  #fromStore(request: ApiRequest): Reply {
    const { method, path, query } = request;
    if (method !== 'GET') return this.#write(request);
    const object = this.#objects.get(path);
    if (object !== undefined) return { code: 200, body: object };
    return isCollection(path) ? this.#list(path, query) : refusal(404, { reason: 'NotFound' });
  }

  #write({ method, path, query, headers, body }: ApiRequest): Reply {
    const of = placeOf(path);
    const isPost = method === 'POST' && isStored(body);
    const place = isPost ? `${path}/${body.metadata.name}` : of.place;
    const name = decodeURIComponent(place.slice(place.lastIndexOf('/') + 1));
    const { subresource } = isPost ? {} : of;
    const contentType = headers['content-type'] ?? '';
    const write = { method, name, subresource, contentType, query, body };
    const kind = this.#kinds.find((each) => isOf(each, place));
    const before = this.#objects.get(place);
    const result = written(before, write, kind);
    if ('refused' in result) return refusal(result.refused.code, result.refused);
    this.pruned.push(...result.pruned.map((field) => `${place}: ${field}`));
    const { object } = result;
    const isSame = kind !== undefined && isDeepStrictEqual(object, before);
    if (object === undefined) this.delete(place);
    else if (!isSame) this.set(place, object);
    if (!isSame) this.#changesLeft -= 1;
    return { code: isPost ? 201 : 200, body: this.#objects.get(place) ?? {} };
  }

  #list(path: string, query: ApiRequest['query']): Reply {
    const items = [...this.#objects]
      .filter(([place, object]) => matches(path, query, place, object))
      .map(([, object]) => object);
    return { code: 200, body: { metadata: { resourceVersion: this.#next() }, items } };
  }

  #tell(place: string, type: string, object: Stored): void {
    this.#events.push({ place, version: Number(this.#next()), type, object });
    for (const { path, query, to } of this.#watches) {
      if (matches(path, query, place, object)) writeEvent(to, type, object);
    }
  }

  #next(): string {
    this.#version += 1;
    return String(this.#version);
  }
}

/** A new server with a client, both until the test ends. `kinds`: those whose writes are checked. */
export async function startFakeApi(
  t: Test,
  kinds: readonly ServedKind[] = [],
): Promise<{ api: FakeApi; client: KubeClient }> {
  const api = new FakeApi(kinds);
  const { port } = await serveApi(t, (message, response) => api.answer(message, response));
  const path = join(t.testdir(), 'kubeconfig');
  await writeFile(path, adminKubeconfig(port));
  const client = await kubeClient(path);
  t.teardown(() => client[Symbol.dispose]());
  return { api, client };
}

function writeEvent(response: ServerResponse, type: string, object: Stored): void {
  response.write(`${JSON.stringify({ type, object })}\n`);
}

function send(response: ServerResponse, reply: Reply): void {
  if (reply === 'cut') {
    response.destroy();
    return;
  }
  const { code, body, headers } = reply;
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body ?? {}));
}

function isCollection(path: string): boolean {
  const [first, ...rest] = path.replace(/^\/(api|apis\/[^/]+)\/[^/]+\//, '').split('/');
  return rest.length === 0 || (first === 'namespaces' && rest.length === 2);
}

/** A collection path without a namespace covers the objects of all namespaces. */
function matches(
  collection: string,
  query: ApiRequest['query'],
  place: string,
  object: Stored,
): boolean {
  const folder = place.slice(0, place.lastIndexOf('/'));
  const isIn = folder === collection || folder.replace(/\/namespaces\/[^/]+/, '') === collection;
  const wanted = /^metadata\.name=(.*)$/.exec(query.fieldSelector ?? '')?.[1];
  return isIn && (wanted === undefined || wanted === object.metadata.name);
}

/** Where an object is, and which part of it a path means. */
function placeOf(path: string): {
  readonly place: string;
  readonly subresource?: string | undefined;
} {
  const [, root = '', rest = ''] =
    /^(\/(?:api|apis\/[^/]+)\/[^/]+\/(?:namespaces\/[^/]+\/)?)(.*)$/.exec(path) ?? [];
  const [plural, name, subresource] = rest.split('/');
  return { place: `${root}${plural}/${name}`, subresource };
}

const isOf = ({ apiVersion, plural }: ServedKind, place: string): boolean => {
  const folder = place.slice(0, place.lastIndexOf('/')).replace(/\/namespaces\/[^/]+/, '');
  return folder === `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/${plural}`;
};
