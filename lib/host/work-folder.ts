import { mkdir, rm } from 'node:fs/promises';

/**
 * Passes `use` an empty folder that only root can open, and deletes it afterwards.
 * Leftovers of a killed attempt are deleted first: they may be incomplete, and may
 * contain keys.
 */
export async function withWorkFolder<T>(
  path: string,
  use: (path: string) => Promise<T>,
): Promise<T> {
  await rm(path, { recursive: true, force: true });
  await mkdir(path, { recursive: true, mode: 0o700 });
  try {
    return await use(path);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}
