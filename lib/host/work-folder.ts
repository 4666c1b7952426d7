import { mkdir, rm } from 'node:fs/promises';

/**
 * Gives `use` an empty folder that root alone can open, and deletes it afterwards. What an
 * attempt that was killed left in it is deleted first: it may be incomplete, and may hold keys.
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
