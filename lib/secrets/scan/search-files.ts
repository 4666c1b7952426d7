import { createHash } from 'node:crypto';
import { scanForKeys } from '../key-scan.ts';
import { contentsOf, openRegularFile } from './walk.ts';

/** Files under way at once: most are small, and opening and closing them takes longer than looking into them. */
const concurrency = 4;
/** Searching a piece takes a millisecond; other work of the process comes in between. */
const pieceBytes = 1 << 18;

export interface SearchedFiles {
  files: number;
  bytes: number;
  /** Different private keys, wanted or not. */
  keys: Set<string>;
  /** Files that hold a wanted key. */
  found: string[];
  /** Files of which a limit kept a part from being searched. */
  incomplete: string[];
}

export interface Search {
  /** Fingerprints of the private keys that no file may hold. */
  wanted: ReadonlySet<string>;
  /**
   * SHA-256 (hex) of files whose contents are known to hold none, by path: what still has that
   * digest is not looked into, since hashing takes a fifth of the time.
   */
  known: ReadonlyMap<string, string>;
}

/**
 * Searches files for private keys with given fingerprints. A file with several names is
 * read once. Files that no longer exist when they are opened are left out.
 *
 * @throws what the paths' source or the reading of a file throws, and the signal's reason.
 */
export async function searchFiles(
  paths: AsyncGenerator<string>,
  { wanted, known }: Search,
  signal: AbortSignal,
): Promise<SearchedFiles> {
  const result: SearchedFiles = { files: 0, bytes: 0, keys: new Set(), found: [], incomplete: [] };
  const linked = new Set<string>();
  const search = async () => {
    const memory = Buffer.allocUnsafeSlow(pieceBytes);
    for await (const path of paths) {
      signal.throwIfAborted();
      await searchFile(path, memory);
    }
  };
  const searchFile = async (path: string, memory: Buffer) => {
    const file = await openRegularFile(path);
    if (file === undefined) return;
    const { handle, status } = file;
    try {
      const id = `${status.dev}:${status.ino}`;
      if (status.nlink > 1 && linked.has(id)) return;
      linked.add(id);
      const digest = known.get(path);
      const contents = () => contentsOf(handle, status.size, memory);
      if (digest !== undefined && (await sha256Of(contents(), signal)) === digest) return;
      const scan = await scanForKeys(contents(), signal);
      result.files += 1;
      result.bytes += scan.bytes;
      for (const key of scan.keys) result.keys.add(key);
      if ([...scan.keys].some((key) => wanted.has(key))) result.found.push(path);
      if (!scan.complete) result.incomplete.push(path);
    } finally {
      await handle.close();
    }
  };
  // The first error also ends the paths, and with them the other searches after their present file.
  const searches = Array.from({ length: concurrency }, search);
  await Promise.allSettled(searches);
  await Promise.all(searches);
  return result;
}

async function sha256Of(contents: AsyncIterable<Buffer>, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of contents) {
    signal.throwIfAborted();
    hash.update(piece);
  }
  return hash.digest('hex');
}
