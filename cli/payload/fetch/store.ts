import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { sha256OfAnyFile } from '../../../lib/host/digests.ts';
import { exists, namesIn, syncFile, writeFileAtomic } from '../../../lib/host/files.ts';

const FOLDERS = ['blobs', 'layouts', 'partial', 'ready'];

/**
 * What was fetched, in a folder: whole files by their SHA-256 in `blobs/sha256`, as skopeo shares them between OCI
 * layouts, and begun ones in `partial`. What is read from it is compared with its digest each time: a power cut can
 * leave a name without its contents.
 */
export class PartStore {
  readonly folder: string;
  readonly #verified = new Set<string>();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** As `--dest-shared-blob-dir` of skopeo takes it. */
  get blobs(): string {
    return join(this.folder, 'blobs');
  }

  /** @throws Failure (usage) if the folder is something else, which would be deleted later */
  async make(): Promise<void> {
    const others = (await namesIn(this.folder)).filter((name) => !FOLDERS.includes(name));
    if (others.length > 0) {
      throw new Failure('usage', `${this.folder} is not a folder of fetched parts`, {
        found: others.slice(0, 5).join(', '),
        fix: 'Move it away, or use another folder (--parts).',
      });
    }
    for (const name of FOLDERS) {
      await mkdir(join(this.folder, name), { recursive: true, mode: 0o755 });
    }
    await mkdir(join(this.blobs, 'sha256'), { recursive: true, mode: 0o755 });
  }

  /** Where a file with that SHA-256 (hex) is, once it is there. */
  pathOf(sha256: string): string {
    return join(this.blobs, 'sha256', sha256);
  }

  partialOf(sha256: string): string {
    return join(this.folder, 'partial', sha256);
  }

  /** Of skopeo, for one image. */
  layoutOf(name: string): string {
    return join(this.folder, 'layouts', name);
  }

  /** A file that a payload is made from. */
  readyOf(name: string): string {
    return join(this.folder, 'ready', name);
  }

  /** Whether the file is there with that digest; one with another digest is deleted. */
  async has(sha256: string, signal: AbortSignal): Promise<boolean> {
    if (this.#verified.has(sha256)) return true;
    const path = this.pathOf(sha256);
    if (!(await exists(path))) return false;
    if ((await sha256OfAnyFile(path, signal)) === sha256) {
      this.#verified.add(sha256);
      return true;
    }
    await rm(path);
    return false;
  }

  /** The contents of a small file; undefined if it is not there with that digest. */
  async read(sha256: string, signal: AbortSignal): Promise<Buffer | undefined> {
    return (await this.has(sha256, signal)) ? readFile(this.pathOf(sha256)) : undefined;
  }

  async put(sha256: string, contents: Buffer): Promise<void> {
    await writeFileAtomic(this.pathOf(sha256), contents, 0o644);
    this.#verified.add(sha256);
  }

  /** Takes over the whole partial file, whose digest was compared. */
  async adopt(sha256: string): Promise<void> {
    const partial = this.partialOf(sha256);
    await syncFile(partial);
    await rename(partial, this.pathOf(sha256));
    this.#verified.add(sha256);
  }
}
