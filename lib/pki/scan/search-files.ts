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
  /** Files of which a limit kept a part from being looked at. */
  incomplete: string[];
}

/**
 * Looks into files for private keys with given fingerprints. A file with several
 * names is read once. Files that are gone by the time they are opened are left out.
 */
export async function searchFiles(
  paths: AsyncGenerator<string>,
  wanted: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<SearchedFiles> {
  const result: SearchedFiles = { files: 0, bytes: 0, keys: new Set(), found: [], incomplete: [] };
  const linked = new Set<string>();
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const search = async () => {
    const memory = Buffer.allocUnsafeSlow(pieceBytes);
    for await (const path of paths) {
      either.throwIfAborted();
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
      const scan = await scanForKeys(contentsOf(handle, status.size, memory), either);
      result.files += 1;
      result.bytes += scan.bytes;
      for (const key of scan.keys) result.keys.add(key);
      if ([...scan.keys].some((key) => wanted.has(key))) result.found.push(path);
      if (!scan.complete) result.incomplete.push(path);
    } finally {
      await handle.close();
    }
  };
  const searches = Array.from({ length: concurrency }, () =>
    search().catch((error: unknown) => {
      stop.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(searches);
  await Promise.all(searches);
  return result;
}
