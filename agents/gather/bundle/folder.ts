import { constants } from 'node:fs';
import { chown, lstat, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { ifMissing } from '../../../lib/host/files.ts';
import type { Spooled } from '../collecting/spool.ts';
import type { Owner } from '../entrance/output.ts';
import { type BundleSink, LeftOut } from './bundle-sink.ts';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** A bundle as files of a folder (0600, folders 0700), to be read on the host itself. */
export class BundleFolder implements BundleSink {
  readonly #folder: string;
  readonly #owner: Owner | undefined;
  readonly #made: string[];
  #bytes = 0;
  #last: Promise<void> = Promise.resolve();

  /** `folder` exists; `owner`: who gets the folder and everything in it at the end. */
  constructor(folder: string, owner?: Owner) {
    this.#folder = folder;
    this.#owner = owner;
    this.#made = owner === undefined ? [] : [folder];
  }

  get bytes(): number {
    return this.#bytes;
  }

  sizeOf(spooled: Spooled): number {
    return spooled.plainBytes;
  }

  addText(path: string, text: string): Promise<void> {
    return this.#next(path, [Buffer.from(text, 'utf8')]);
  }

  addSpooled(path: string, spooled: Spooled, gzipped: boolean): Promise<void> {
    return this.#next(path, gzipped ? spooled.members() : spooled.text());
  }

  addStream(path: string, contents: AsyncIterable<Uint8Array>): Promise<void> {
    return this.#next(path, contents);
  }

  /** Changes the owner of folders last: until then no other user can write into them. */
  async close(): Promise<void> {
    await this.#last.catch(() => undefined);
    if (this.#owner === undefined) return;
    for (const folder of this.#made.toReversed()) {
      await chown(folder, this.#owner.uid, this.#owner.gid);
    }
  }

  #next(path: string, contents: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const mine = this.#last.catch(() => undefined).then(() => this.#write(path, contents));
    this.#last = mine;
    return mine;
  }

  async #write(path: string, contents: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    try {
      await this.#makeFolders(dirname(path));
      await this.#create(join(this.#folder, path), contents);
    } catch (error) {
      throw new LeftOut(describeError(error));
    }
  }

  async #create(file: string, contents: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    await using handle = await open(file, CREATE, 0o600);
    try {
      if (this.#owner !== undefined) await handle.chown(this.#owner.uid, this.#owner.gid);
      for await (const chunk of contents) {
        await handle.writeFile(chunk);
        this.#bytes += chunk.length;
      }
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    }
  }

  async #makeFolders(below: string): Promise<void> {
    let folder = this.#folder;
    for (const name of below.split('/').filter((part) => part !== '' && part !== '.')) {
      folder = join(folder, name);
      await this.#makeFolder(folder);
    }
  }

  async #makeFolder(folder: string): Promise<void> {
    const found = await lstat(folder).catch(ifMissing);
    if (found?.isDirectory() === true) return;
    if (found !== undefined) {
      throw new Failure('retry', `${folder} is in the way`, { expected: 'a folder, or nothing' });
    }
    await mkdir(folder, { mode: 0o700 });
    this.#made.push(folder);
  }
}
