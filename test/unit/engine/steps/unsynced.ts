import fs from 'node:fs';
import { dirname, join } from 'node:path';

/** What is not on the disk yet: names that a power cut undoes, and files that it empties. */
interface Change {
  /** Whoever syncs one of them has it on the disk; `any`: it is written with whatever is synced next. */
  readonly folders: readonly string[] | 'any';
  undo(): void;
}

const isThere = (path: string): boolean =>
  fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/**
 * The effects of a process that a power cut may take back: the worst that POSIX allows for names in one folder, and that
 * journaling file systems do to the contents of files. Programs that it starts are not seen.
 */
export class Unsynced {
  #changes: Change[] = [];
  readonly #contents = new Map<number, string>();
  readonly #keep: string;
  #kept = 0;

  /** `keep`: a folder of its own, on the same file system. */
  constructor(keep: string) {
    this.#keep = keep;
    fs.mkdirSync(keep);
  }

  /** Whether a power cut takes nothing back. */
  get isEmpty(): boolean {
    return this.#changes.length === 0 && this.#contents.size === 0;
  }

  /** `make` renames. */
  async renamed(from: string, to: string, make: () => Promise<unknown>): Promise<void> {
    const replaced = fs.lstatSync(to, { throwIfNoEntry: false });
    const kept = replaced === undefined || replaced.isDirectory() ? undefined : this.#name();
    if (kept !== undefined) fs.linkSync(to, kept);
    await make();
    // rename(2) does nothing if both are names of one file.
    if (isThere(from)) return;
    this.#add([dirname(from), dirname(to)], () => {
      fs.renameSync(to, from);
      if (kept !== undefined) fs.renameSync(kept, to);
    });
  }

  /** Returns false if nothing is there: then the real call has to say so. */
  removed(path: string): boolean {
    if (!isThere(path)) return false;
    const kept = this.#name();
    fs.renameSync(path, kept);
    this.#add([dirname(path)], () => {
      // What has the name durably now has it since the removal is durable.
      if (!isThere(path)) fs.renameSync(kept, path);
    });
    return true;
  }

  /** A new name of a file or a link. */
  named(path: string): void {
    this.#add([dirname(path)], () => fs.rmSync(path));
  }

  /** The first of the folders that were made. */
  madeFolder(path: string): void {
    this.#add('any', () => fs.rmSync(path, { recursive: true }));
  }

  /** A file is open for writing; it was there before or not. */
  opened(path: string, wasThere: boolean): void {
    const kept = this.#name();
    fs.linkSync(path, kept);
    this.#contents.set(fs.statSync(path).ino, kept);
    if (!wasThere) this.#add('any', () => fs.rmSync(path, { force: true }));
  }

  synced(fd: number): void {
    const path = fs.readlinkSync(`/proc/self/fd/${fd}`);
    this.#contents.delete(fs.fstatSync(fd).ino);
    this.#changes = this.#changes.filter(
      ({ folders }) => folders !== 'any' && !folders.includes(path),
    );
  }

  /** Takes everything back that is not on the disk. */
  cut(): void {
    for (const path of this.#contents.values()) fs.truncateSync(path);
    for (const { undo } of this.#changes.toReversed()) {
      try {
        undo();
      } catch (error) {
        // Its folder has gone, or was renamed durably.
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
      }
    }
  }

  #name = (): string => join(this.#keep, `${this.#kept++}`);

  #add(folders: Change['folders'], undo: () => void): void {
    this.#changes.push({ folders, undo });
  }
}
