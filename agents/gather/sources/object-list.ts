import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { isRecord } from '../../../lib/base/json.ts';
import { KubeError } from '../../../lib/clients/kube/kube-error.ts';
import type { Call } from '../../../lib/clients/kube/transport.ts';
import type { Api } from './api.ts';

/** Objects per page, as long as they are small. */
const PAGE_OBJECTS = 500;
/** A larger response is requested again with fewer objects, since it is parsed as a whole. */
const PAGE_BYTES = 4 << 20;
/** Larger than any object that etcd accepts. */
const OBJECT_BYTES = 16 << 20;

const pageSchema = z.looseObject({
  metadata: z
    .looseObject({ continue: z.string().optional(), remainingItemCount: z.number().optional() })
    .default({}),
  items: z.array(z.unknown()).nullable(),
});

export type Page = z.infer<typeof pageSchema>;

/** A list page by page; only one page of objects is in memory. The path has no query. */
export async function* pages(
  api: Api,
  { path, ...rest }: Omit<Call, 'method'>,
  signal: AbortSignal,
): AsyncGenerator<Page> {
  let limit = PAGE_OBJECTS;
  for (let next: string | undefined; ; ) {
    const query = new URLSearchParams({
      limit: String(limit),
      ...(next === undefined ? {} : { continue: next }),
    });
    const call = { ...rest, path: `${path}?${query}` };
    const bytes = await answerUpTo(
      limit === 1 ? OBJECT_BYTES : PAGE_BYTES,
      api.bytes(call, signal),
    );
    if (bytes === undefined) {
      if (limit === 1) throw new Failure('retry', `${path} has an object of more than 16 MiB`);
      limit = Math.max(1, Math.floor(limit / 5));
      continue;
    }
    const page = parsePage(path, bytes);
    yield page;
    next = page.metadata.continue || undefined;
    if (next === undefined) return;
  }
}

/** The objects of a list one by one, parsed with `schema`. */
export async function* objectsIn<T>(
  lists: AsyncIterable<Page>,
  schema: z.ZodType<T>,
): AsyncGenerator<T> {
  for await (const { items } of lists) for (const item of items ?? []) yield schema.parse(item);
}

/** The whole response, or undefined if it is larger. */
async function answerUpTo(
  limitBytes: number,
  chunks: AsyncIterable<Uint8Array>,
): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > limitBytes) return undefined;
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

function parsePage(path: string, bytes: Buffer): Page {
  try {
    return pageSchema.parse(JSON.parse(bytes.toString('utf8')));
  } catch (cause) {
    throw new KubeError('busy', `GET ${path}: the answer is not a list`, { cause });
  }
}

/**
 * A list as one JSON document, written as a stream. If the list is incomplete or too large, the
 * document is still closed, and the reason is thrown afterwards.
 */
export async function* listDocument(
  lists: AsyncIterable<Page>,
  limitBytes: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let written = 0;
  let isOpen = false;
  let failure: unknown;
  try {
    for await (const { items, metadata, ...head } of lists) {
      const parts: string[] = [];
      if (!isOpen) parts.push(beginning(head, metadata));
      isOpen = true;
      for (const item of items ?? []) {
        const text = asItem(item);
        bytes += Buffer.byteLength(text);
        if (bytes > limitBytes) break;
        parts.push(written++ === 0 ? '\n' : ',\n', text);
      }
      yield Buffer.from(parts.join(''));
      if (bytes > limitBytes) {
        const limit = `${limitBytes >> 20} MiB`;
        failure = new Failure(
          'retry',
          `more than ${limit}: only the first ${written} objects are included`,
        );
        break;
      }
    }
  } catch (error) {
    failure = error;
  }
  if (isOpen) yield Buffer.from('\n]}\n');
  if (failure !== undefined) throw failure;
}

/** Everything in the list except its objects, left open for them. */
function beginning(head: object, metadata: Page['metadata']): string {
  const { continue: _, remainingItemCount: __, ...rest } = metadata;
  return `${JSON.stringify({ ...head, metadata: rest }, null, 1).slice(0, -2)},\n "items": [`;
}

/** As the API returns it, without managedFields, which are longer than many objects. */
export function asItem(item: unknown): string {
  if (!isRecord(item) || !isRecord(item.metadata)) return JSON.stringify(item, null, 1);
  const { managedFields: _, ...metadata } = item.metadata;
  return JSON.stringify({ ...item, metadata }, null, 1);
}
