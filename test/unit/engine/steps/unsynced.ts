import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { isBeside } from './overlaps.ts';

/** What is not on the disk yet: names that a power cut undoes, and files that it empties. */
interface Change {
  /** The number of the effect. */
  readonly effect: number;
  /** Whoever syncs one of them has it on the disk; `any`: it is written with whatever is synced next. */
  readonly folders: readonly string[] | 'any';
  undo(): void;
}

/** What was written to a file. */
interface Written {
  /** A second name of the file. */
  readonly kept: string;
  path: string;
  /** The number of the effect that opened it. */
  readonly effect: number;
}

const isThere = (path: string): boolean =>
  fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/**
 * The effects of a process that a power cut may take back: the worst that POSIX allows for names in one folder, and that
 * journaling file systems do to the contents of files. Programs that it starts are not seen.
 */
export class Unsynced {
  #changes: Change[] = [];
  readonly #contents = new Map<number, Written>();
  readonly #keep: string;
  #kept = 0;

  /** `keep`: a folder of its own, on the same file system. */
  constructor(keep: string) {
    this.#keep = keep;
    fs.mkdirSync(keep);
  }

  /** The effects that a power cut takes back, by their numbers; undefined if it also empties a file that stays. */
  get lost(): ReadonlySet<number> | undefined {
    const lost = new Set(this.#changes.map(({ effect }) => effect));
    for (const { path, effect } of this.#contents.values())
      if (!lost.has(effect) && !isBeside(`open ${path}`)) return undefined;
    return lost;
  }

  /** `make` renames. */
  async renamed(
    effect: number,
    from: string,
    to: string,
    make: () => Promise<unknown>,
  ): Promise<void> {
    const replaced = fs.lstatSync(to, { throwIfNoEntry: false });
    const kept = replaced === undefined || replaced.isDirectory() ? undefined : this.#name();
    if (kept !== undefined) fs.linkSync(to, kept);
    await make();
    // rename(2) does nothing if both are names of one file.
    if (isThere(from)) return;
    for (const written of this.#contents.values()) if (written.path === from) written.path = to;
    this.#add(effect, [dirname(from), dirname(to)], () => {
      fs.renameSync(to, from);
      if (kept !== undefined) fs.renameSync(kept, to);
    });
  }

  /** Returns false if nothing is there: then the real call has to say so. */
  removed(effect: number, path: string): boolean {
    if (!isThere(path)) return false;
    const kept = this.#name();
    fs.renameSync(path, kept);
    this.#add(effect, [dirname(path)], () => {
      // What has the name durably now has it since the removal is durable.
      if (!isThere(path)) fs.renameSync(kept, path);
    });
    return true;
  }

  /** A new name of a file or a link. */
  named(effect: number, path: string): void {
    this.#add(effect, [dirname(path)], () => fs.rmSync(path));
  }

  /** The first of the folders that were made. */
  madeFolder(effect: number, path: string): void {
    this.#add(effect, 'any', () => fs.rmSync(path, { recursive: true }));
  }

  /** A file is open for writing; it was there before or not. */
  opened(effect: number, path: string, wasThere: boolean): void {
    const kept = this.#name();
    fs.linkSync(path, kept);
    this.#contents.set(fs.statSync(path).ino, { kept, path, effect });
    if (!wasThere) this.#add(effect, 'any', () => fs.rmSync(path, { force: true }));
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
    for (const { kept } of this.#contents.values()) fs.truncateSync(kept);
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

  #add(effect: number, folders: Change['folders'], undo: () => void): void {
    this.#changes.push({ effect, folders, undo });
  }
}
