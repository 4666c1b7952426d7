import { dirname } from 'node:path';
import { watch } from 'chokidar';
import { Failure } from '../errors/failure.ts';
import type { Limits } from '../wait/limits.ts';
import { exists } from './files.ts';

/** Waits until something exists at `path`. */
export async function waitForPath(path: string, options: Limits): Promise<void> {
  await waitForFiles([path], () => exists(path), {
    ...options,
    describe: () => `${path} to appear`,
  });
}

export interface FileWait extends Limits {
  /** What is still missing, for the error at the deadline. */
  readonly describe: () => string;
}

/**
 * Calls `holds` now and after each change of one of the files, until it returns
 * true. Watches the folders, since a file may not exist yet or may be replaced.
 */
export async function waitForFiles(
  paths: readonly string[],
  holds: () => Promise<boolean>,
  { signal, deadlineMs, describe }: FileWait,
): Promise<void> {
  const watcher = watch([...new Set(paths.map((path) => dirname(path)))], { depth: 0 });
  const deadline = AbortSignal.timeout(Math.max(1, deadlineMs));
  const either = AbortSignal.any([signal, deadline]);
  try {
    await new Promise<void>((resolve, reject) => {
      const ask = () => {
        holds().then((yes) => yes && resolve(), reject);
      };
      either.addEventListener('abort', () => reject(either.reason), { once: true });
      watcher.on('all', ask).on('ready', ask).on('error', reject);
      if (either.aborted) reject(either.reason);
      ask();
    });
  } catch (error) {
    if (!deadline.aborted || signal.aborted) throw error;
    throw new Failure('deadline', `waited ${Math.round(deadlineMs / 1000)}s for ${describe()}`);
  } finally {
    await watcher.close();
  }
}
