import { z } from 'zod';
import { schemaFaults } from '../../base/errors/schema-faults.ts';
import type { Limits } from '../../base/wait/limits.ts';
import { errorFromAnswer, errorFromWatch, isKubeError, KubeError } from './kube-error.ts';
import { type Access, readKubeconfig } from './kubeconfig.ts';
import { type KubeObject, type ObjectPlace, type Resource, resourcePath } from './resources.ts';
import { type Answer, type Call, Transport } from './transport.ts';

/** Which objects of a resource: those of one namespace, those that a selector matches, or all. */
export interface Selection {
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

interface ObjectList<T> {
  readonly resourceVersion: string;
  readonly items: readonly T[];
}

/** Where a page begins, and how many objects are asked for. */
interface Position {
  readonly token: string | undefined;
  readonly size: number;
}

interface Page<T> extends ObjectList<T> {
  /** Undefined after the last one. */
  readonly next: Position | undefined;
}

type WatchEvent<T> =
  | { readonly type: 'changed' | 'removed'; readonly object: T }
  | { readonly type: 'bookmark'; readonly resourceVersion: string };

/** What happens to fields that the API does not know: refused, or dropped with a warning. */
export type FieldValidation = 'Strict' | 'Warn';

/** How a write is checked, and who hears the API's warnings about it. */
export interface Checked {
  readonly fieldValidation: FieldValidation;
  /** Called once if the write succeeds, also without warnings. */
  warned(warnings: readonly string[]): void;
}

const listSchema = z.looseObject({
  metadata: z.looseObject({ resourceVersion: z.string(), continue: z.string().optional() }),
  items: z.array(z.unknown()),
});
const eventSchema = z.object({ type: z.string(), object: z.unknown() });
const bookmarkSchema = z.looseObject({ metadata: z.looseObject({ resourceVersion: z.string() }) });

/** Objects in one page of a list, so that neither side holds thousands in one response. */
const PAGE_SIZE = 500;
/** What others have written may be large: a page with more bytes is asked for again with fewer objects. */
const PAGE_BYTES = 4 << 20;
const WATCH_SECONDS = 240;

const FIRST_PAGE: Position = { token: undefined, size: PAGE_SIZE };

/** A client for the API server that a kubeconfig names. */
export async function kubeClient(kubeconfigPath: string): Promise<KubeClient> {
  return new KubeClient(await readKubeconfig(kubeconfigPath));
}

/**
 * Requests to one API server. Each has a deadline and a signal, and throws
 * KubeError, the signal's reason when that ended it, or an Error that names the
 * request and the field when the answer is none that an API server gives.
 */
export class KubeClient {
  readonly #transport: Transport;
  readonly #watchSeconds: number;

  /** The server ends a watch after `watchSeconds`; the next one continues at its last version. */
  constructor(access: Access, watchSeconds = WATCH_SECONDS) {
    this.#transport = new Transport(access);
    this.#watchSeconds = watchSeconds;
  }

  /** Closes the connections. */
  [Symbol.dispose](): void {
    this.#transport[Symbol.dispose]();
  }

  /** The response to a GET of any path, such as `/readyz?verbose`, whatever its status. */
  async raw(path: string, limits: Limits): Promise<Answer> {
    return this.#transport.exchange({ method: 'GET', path }, limits);
  }

  /** The JSON of a successful response. */
  async json(
    call: Call,
    limits: Limits,
    {
      mostBytes,
      checked,
    }: { readonly mostBytes?: number; readonly checked?: Checked | undefined } = {},
  ): Promise<unknown> {
    const answer = await this.#transport.exchange(call, limits, mostBytes);
    if (answer.code >= 300) throw answerError(call)(answer);
    checked?.warned(answer.warnings);
    try {
      return JSON.parse(answer.body);
    } catch (cause) {
      throw new KubeError('busy', `${describe(call)}: the answer is not JSON`, { cause });
    }
  }

  /** The same as what the schema says it is. */
  async answer<T>(schema: z.ZodType<T>, call: Call, limits: Limits, checked?: Checked): Promise<T> {
    return parsed(schema, await this.json(call, limits, { checked }), describe(call));
  }

  /** A successful response as a stream, such as a pod's log. */
  bytes(call: Call, limits: Limits): AsyncGenerator<Uint8Array> {
    return this.#transport.bytes(call, limits, answerError(call));
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    place: ObjectPlace & { name: string },
    limits: Limits,
  ) {
    return this.answer(
      resource.schema,
      { method: 'GET', path: resourcePath(resource, place) },
      limits,
    );
  }

  /** Like `get`, or undefined when the object does not exist. */
  async find<T extends KubeObject>(
    resource: Resource<T>,
    place: ObjectPlace & { name: string },
    limits: Limits,
  ): Promise<T | undefined> {
    try {
      return await this.get(resource, place, limits);
    } catch (error) {
      if (isKubeError(error, 'not-found')) return undefined;
      throw error;
    }
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    place: ObjectPlace,
    body: unknown,
    limits: Limits,
    checked?: Checked,
  ) {
    const path = checkedPath(resourcePath(resource, place), checked);
    return this.answer(resource.schema, { method: 'POST', path, body }, limits, checked);
  }

  /** Replaces an object or a subresource; refused with `conflict` when `body` is not the newest version. */
  async replace<T extends KubeObject>(
    resource: Resource<T>,
    place: ObjectPlace & { name: string },
    body: unknown,
    limits: Limits,
    checked?: Checked,
  ): Promise<T> {
    const path = checkedPath(resourcePath(resource, place), checked);
    return this.answer(resource.schema, { method: 'PUT', path, body }, limits, checked);
  }

  /** Deletes an object; false when there was none. */
  async remove(
    resource: Resource,
    place: ObjectPlace & { name: string },
    limits: Limits,
  ): Promise<boolean> {
    try {
      await this.json({ method: 'DELETE', path: resourcePath(resource, place) }, limits);
      return true;
    } catch (error) {
      if (isKubeError(error, 'not-found')) return false;
      throw error;
    }
  }

  /** Everything selected, as of one resource version. */
  async list<T extends KubeObject>(
    resource: Resource<T>,
    selection: Selection,
    { signal, deadlineMs }: Limits,
  ): Promise<ObjectList<T>> {
    const endsAt = performance.now() + deadlineMs;
    const items: T[] = [];
    for (let at: Position = FIRST_PAGE; ; ) {
      const page = await this.#page(resource, selection, at, {
        signal,
        deadlineMs: endsAt - performance.now(),
      });
      items.push(...page.items);
      if (page.next === undefined) return { resourceVersion: page.resourceVersion, items };
      at = page.next;
    }
  }

  /**
   * The same page by page, so that no more than one of them has to be in memory; the resource version is that of
   * all pages. Each page has the whole deadline: what is done with it in between counts for none.
   */
  async *pages<T extends KubeObject>(
    resource: Resource<T>,
    selection: Selection,
    limits: Limits,
  ): AsyncGenerator<ObjectList<T>> {
    for (let at: Position | undefined = FIRST_PAGE; at !== undefined; ) {
      const { next, ...page }: Page<T> = await this.#page(resource, selection, at, limits);
      yield page;
      at = next;
    }
  }

  async #page<T extends KubeObject>(
    resource: Resource<T>,
    selection: Selection,
    { size, token }: Position,
    limits: Limits,
  ): Promise<Page<T>> {
    const endsAt = performance.now() + limits.deadlineMs;
    const query = { limit: String(size), ...(token === undefined ? {} : { continue: token }) };
    const path = collectionPath(resource, selection, query);
    try {
      const call: Call = { method: 'GET', path };
      const body = await this.json(call, limits, { mostBytes: PAGE_BYTES });
      const { metadata, items } = parsed(listSchema, body, describe(call));
      return {
        resourceVersion: metadata.resourceVersion,
        items: items.map((item, at) =>
          parsed(resource.schema, item, `${describe(call)}, item ${at}`),
        ),
        next: metadata.continue
          ? { token: metadata.continue, size: Math.min(PAGE_SIZE, size * 2) }
          : undefined,
      };
    } catch (error) {
      if (size === 1 || !isKubeError(error, 'too-long')) throw error;
      const left = { signal: limits.signal, deadlineMs: endsAt - performance.now() };
      return this.#page(resource, selection, { token, size: Math.ceil(size / 4) }, left);
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
      timeoutSeconds: String(this.#watchSeconds),
      resourceVersion,
    });
    const call: Call = { method: 'GET', path };
    // Longer than the server's own limit: only a connection that broke without notice reaches it.
    const limits = { signal, deadlineMs: (this.#watchSeconds + 30) * 1000 };
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
  const { type, object } = parsed(eventSchema, JSON.parse(line), request);
  if (type === 'ERROR') throw errorFromWatch(request, object);
  if (type === 'BOOKMARK') {
    return {
      type: 'bookmark',
      resourceVersion: parsed(bookmarkSchema, object, request).metadata.resourceVersion,
    };
  }
  return {
    type: type === 'DELETED' ? 'removed' : 'changed',
    object: parsed(resource.schema, object, request),
  };
}

function collectionPath(
  resource: Resource,
  { namespace, fieldSelector, labelSelector }: Selection,
  query: Record<string, string>,
): string {
  const all = new URLSearchParams(query);
  if (fieldSelector !== undefined) all.set('fieldSelector', fieldSelector);
  if (labelSelector !== undefined) all.set('labelSelector', labelSelector);
  return `${resourcePath(resource, { namespace })}?${all}`;
}

const checkedPath = (path: string, checked: Checked | undefined) =>
  checked === undefined ? path : `${path}?fieldValidation=${checked.fieldValidation}`;

function parsed<T>(schema: z.ZodType<T>, body: unknown, request: string): T {
  const { data, error, success } = schema.safeParse(body);
  if (success) return data;
  throw new Error(`${request}: the answer is not as expected: ${schemaFaults(error)}`);
}

const describe = ({ method, path }: Call) => `${method} ${path.split('?')[0]}`;

const answerError = (call: Call) => (answer: Answer) =>
  errorFromAnswer(describe(call), answer.code, answer.body, answer.retryAfter);
