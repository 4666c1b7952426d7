import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import { z } from 'zod';
import { Failure } from '../steps/failure.ts';

/** `manifest.json` of what `docker save` writes. */
const manifestSchema = z
  .array(z.object({ Config: z.string(), RepoTags: z.array(z.string()).nullable() }))
  .min(1);

/** Larger than any manifest or image configuration; layers are skipped. */
const maxDocumentBytes = 1 << 20;

/**
 * The id that a runtime gives the image of this name in a docker archive:
 * `sha256:` and the digest of its configuration.
 * @throws Failure (usage) when the archive holds no image of that name.
 */
export async function imageIdInArchive(
  archive: Readable,
  reference: string,
  name: string,
  signal: AbortSignal,
): Promise<string> {
  const documents = await readDocuments(archive, reference, signal);
  const manifest = manifestSchema.safeParse(parseJson(documents.get('manifest.json')));
  if (!manifest.success) throw notAnImage(name, reference, 'no manifest.json of a docker archive');
  const entry = manifest.data.find(({ RepoTags }) => RepoTags?.includes(reference));
  const tags = manifest.data.flatMap(({ RepoTags }) => RepoTags ?? []).join(', ');
  if (entry === undefined) throw notAnImage(name, reference, tags || 'no name');
  const config = documents.get(entry.Config);
  if (config === undefined) throw notAnImage(name, reference, `no configuration ${entry.Config}`);
  return `sha256:${createHash('sha256').update(config).digest('hex')}`;
}

/**
 * The small files of the archive, up to the point where the image is described: layers
 * follow, which may be large, unless the configuration comes after them.
 */
async function readDocuments(
  archive: Readable,
  reference: string,
  signal: AbortSignal,
): Promise<Map<string, Buffer>> {
  const documents = new Map<string, Buffer>();
  const entries = extract();
  const enough = new AbortController();
  const reading = pipeline(archive, entries, { signal: AbortSignal.any([signal, enough.signal]) });
  // Awaited below; a rejection before that must not count as unhandled.
  reading.catch(() => undefined);
  try {
    for await (const entry of entries) {
      const { name, size = 0, type } = entry.header;
      const wanted = type === 'file' && size <= maxDocumentBytes;
      const pieces: Buffer[] = [];
      for await (const piece of entry) if (wanted && Buffer.isBuffer(piece)) pieces.push(piece);
      if (wanted) documents.set(name.replace(/^\.\//, ''), Buffer.concat(pieces));
      if (describes(documents, reference)) return documents;
    }
    await reading;
    return documents;
  } finally {
    enough.abort();
  }
}

function describes(documents: ReadonlyMap<string, Buffer>, reference: string): boolean {
  const manifest = manifestSchema.safeParse(parseJson(documents.get('manifest.json')));
  const entry = manifest.data?.find(({ RepoTags }) => RepoTags?.includes(reference));
  return entry !== undefined && documents.has(entry.Config);
}

function parseJson(document: Buffer | undefined): unknown {
  try {
    return document === undefined ? undefined : JSON.parse(document.toString());
  } catch {
    return undefined;
  }
}

function notAnImage(archive: string, reference: string, found: string): Failure {
  return new Failure('usage', `${archive} does not hold its image`, { expected: reference, found });
}
