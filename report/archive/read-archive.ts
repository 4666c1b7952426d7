import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import { atMost } from '../../lib/base/archive/at-most.ts';
import { Failure } from '../../lib/base/errors/failure.ts';
import { nameInBundle, TakenNames } from './names.ts';

export interface ArchiveLimits {
  readonly entries: number;
  /** Per file; a larger one is refused. */
  readonly fileBytes: number;
  /** Total decompressed size, headers included. */
  readonly bytes: number;
}

/** A regular file of the archive. */
export interface ArchivedFile {
  /** Without the archive's top-level folder; safe as a path below a folder. */
  readonly name: string;
  readonly size: number;
  readonly modified: Date | undefined;
  /** Bytes that are not read are skipped. */
  readonly content: AsyncIterable<unknown>;
}

export interface ArchiveEnd {
  /** Names of refused entries, quoted, for people: only a few. */
  readonly refused: readonly string[];
  /** Why the rest of the archive was not read: damage or a limit. */
  readonly failure?: unknown;
}

const MAX_REFUSED = 20;

/**
 * Reads a log bundle from an untrusted source, already decompressed: regular files only, each
 * name once. Damage, an exceeded limit or an error of `take` ends the reading and is returned as
 * `failure`. Rejects only when `signal` aborts.
 */
export async function readArchive(
  chunks: AsyncIterable<Uint8Array>,
  limits: ArchiveLimits,
  signal: AbortSignal,
  take: (file: ArchivedFile) => Promise<void>,
): Promise<ArchiveEnd> {
  const taken = new TakenNames();
  const refused: string[] = [];
  const entries = extract();
  const reading = pipeline(atMostOfBundle(chunks, limits.bytes), entries, { signal });
  // Awaited below, after the entries read from it.
  reading.catch(() => undefined);
  let failure: unknown;
  try {
    let count = 0;
    for await (const entry of entries) {
      if (++count > limits.entries) throw tooLarge(`more than ${limits.entries} entries`);
      const { name: written, type, size = 0, mtime: modified } = entry.header;
      const name = type === 'file' && size <= limits.fileBytes ? nameInBundle(written) : undefined;
      if (name !== undefined && taken.add(name)) {
        await take({ name, size, modified, content: entry });
      } else if (type !== 'directory') {
        refused.push(JSON.stringify(written.slice(0, 200)));
      }
      entry.resume();
    }
    await reading;
  } catch (error) {
    signal.throwIfAborted();
    failure = error;
  } finally {
    entries.destroy();
    await reading.catch(() => undefined);
  }
  return { refused: shortened(refused), ...(failure === undefined ? {} : { failure }) };
}

function shortened(refused: readonly string[]): string[] {
  const shown = refused.slice(0, MAX_REFUSED);
  const more = refused.length - shown.length;
  return more > 0 ? [...shown, `${more} more`] : shown;
}

/** At most `limit` bytes of a stream. */
export const atMostOfBundle = (chunks: AsyncIterable<Uint8Array>, limit: number) =>
  atMost(chunks, limit, () => tooLarge(`more than ${Math.round(limit / 2 ** 20)} MiB`));

const tooLarge = (found: string) =>
  new Failure('fatal', 'the archive is larger than a log bundle can be', { found });
