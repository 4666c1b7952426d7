import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory, syncFile } from './files.ts';

/** Makes a folder and everything below it durable. Symlinks are not followed. */
export async function syncTree(path: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) await syncTree(child, signal);
    else if (entry.isFile()) await syncFile(child);
  }
  await syncDirectory(path);
}
