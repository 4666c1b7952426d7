import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import { Failure } from '../errors/failure.ts';
import { atMost } from './at-most.ts';

export interface TarEntry {
  /** Without a leading `./`. */
  name: string;
  /** `file`, `directory`, `symlink`, `link` and so on. */
  type: string;
  size: number;
  /** Where a `symlink` points, or what a `link` is another name of; '' for anything else. */
  target: string;
  content: AsyncIterable<Buffer>;
}

export interface TarLimits {
  entries: number;
  /** Of the whole archive, decompressed. */
  bytes: number;
}

/** Far above any image for one host: the largest in a release has about 100 files and 3 GB. */
export const tarLimits: TarLimits = { entries: 20_000, bytes: 64 * 2 ** 30 };

/**
 * The entries of a tar archive in order. Names are only compared, never written to:
 * names that lead out of the archive are refused, and so are archives beyond the
 * limits. The unread rest of an entry is skipped; leaving the loop ends the
 * reading. `what` names the archive's contents in errors.
 * @throws Failure (usage) that says what is wrong with the archive.
 */
export async function* tarEntries(
  source: AsyncIterable<Buffer>,
  signal: AbortSignal,
  limits: TarLimits = tarLimits,
  what = "one host's images",
): AsyncGenerator<TarEntry> {
  const refused = (found: string) => new Failure('usage', `not an archive of ${what}`, { found });
  const entries = extract();
  const enough = new AbortController();
  const tooLarge = () => refused(`more than ${Math.ceil(limits.bytes / 2 ** 20)} MiB`);
  const reading = pipeline(Readable.from(atMost(source, limits.bytes, tooLarge)), entries, {
    signal: AbortSignal.any([signal, enough.signal]),
  });
  // Awaited below; an earlier rejection must not count as unhandled.
  reading.catch(() => undefined);
  try {
    let count = 0;
    for await (const content of entries) {
      const { name, type, size = 0, linkname } = content.header;
      count += 1;
      if (count > limits.entries) throw refused(`more than ${limits.entries} files`);
      yield {
        name: safeName(name, refused),
        type: type ?? 'file',
        size,
        target: linkname ?? '',
        content: buffersOf(content, signal),
      };
      content.resume();
    }
    await reading;
  } catch (error) {
    signal.throwIfAborted();
    throw unreadable(error);
  } finally {
    enough.abort();
  }
}

/** The reader of an entry receives the archive's faults first. */
async function* buffersOf(
  content: AsyncIterable<unknown>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  try {
    for await (const piece of content) if (Buffer.isBuffer(piece)) yield piece;
  } catch (error) {
    signal.throwIfAborted();
    throw unreadable(error);
  }
}

function safeName(written: string, refused: (found: string) => Failure): string {
  const name = written.replace(/^(\.\/)+/, '');
  if (name.startsWith('/') || name.split('/').includes('..')) {
    throw refused(`a file ${JSON.stringify(written.slice(0, 100))}`);
  }
  return name;
}

/**
 * Damage is reported as an error of the library; errors of the file system are
 * passed on unchanged.
 */
function unreadable(error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error)) return error;
  if ('syscall' in error) return error;
  return new Failure('usage', 'a truncated or damaged tar archive', { found: error.message });
}
