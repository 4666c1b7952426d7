import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '../host/files.ts';

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

async function syncFile(path: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
