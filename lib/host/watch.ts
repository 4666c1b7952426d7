import { dirname } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { Failure } from '../base/errors/failure.ts';
import { ChangeSignal } from '../base/wait/change-signal.ts';
import type { Limits } from '../base/wait/limits.ts';
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

/** Notices that a folder has changed. What is read after it was opened, and again after each change, is complete. */
export class FolderChanges implements AsyncDisposable {
  readonly #watcher: FSWatcher;
  readonly #changes = new ChangeSignal();
  readonly #failed = new AbortController();

  /**
   * Resolves when every further change will be noticed; so the folder is to be read only then.
   *
   * @param folder need not exist; what is in its folders is not watched
   * @throws the error of the watcher, or the reason of the signal
   */
  static async open(folder: string, signal: AbortSignal): Promise<FolderChanges> {
    const changes = new FolderChanges(folder);
    const either = AbortSignal.any([signal, changes.#failed.signal]);
    try {
      await new Promise<void>((resolve, reject) => {
        changes.#watcher.on('ready', resolve);
        either.addEventListener('abort', () => reject(either.reason), { once: true });
        if (either.aborted) reject(either.reason);
      });
      return changes;
    } catch (error) {
      await changes[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(folder: string) {
    this.#watcher = watch(folder, { depth: 0, ignoreInitial: true });
    this.#watcher.on('all', () => this.#changes.notify());
    this.#watcher.on('error', (error) => this.#failed.abort(error));
  }

  /** Resolves after the next change, at once if there was one since it resolved the last time. */
  async next(signal: AbortSignal): Promise<void> {
    await this.#changes.next(AbortSignal.any([signal, this.#failed.signal]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watcher.close();
  }
}
