import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { ifMissing, syncDirectory } from '../../../lib/host/files.ts';

/** Where an archive's bytes are written. */
export interface GatherOutput {
  write(bytes: Uint8Array): Promise<void>;
  /** Truncates to `length` bytes; may free some space for what follows. */
  takeBack?(length: number): Promise<void>;
  /** Called once after the last byte, if there is anything left to be written. */
  end?(): Promise<void>;
}

/** A stream, such as standard output; respects backpressure. */
export const streamOutput = (stream: Writable): GatherOutput => ({
  write: (bytes) =>
    new Promise((resolve, reject) => {
      stream.write(bytes, (error) => (error ? reject(error) : resolve()));
    }),
});

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Reserved for the end of an archive (log and final blocks) if the disk fills up meanwhile. */
const RESERVED_BYTES = 512 * 1024;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * A new file (0600) beside its final path, renamed when complete. An existing file is neither
 * followed nor written into. A killed process leaves its output as `NAME.<random>.partial`.
 */
export class FileOutput implements GatherOutput {
  readonly path: string;
  readonly #partial: string;
  readonly #handle: FileHandle;
  #reserve: string | undefined;
  #length = 0;

  private constructor(path: string, partial: string, handle: FileHandle) {
    this.path = path;
    this.#partial = partial;
    this.#handle = handle;
  }

  /** `owner`: who the file is given to, if not the user of this process. */
  static async create(path: string, owner?: Owner): Promise<FileOutput> {
    await expectReplaceable(path);
    const partial = `${path}.${process.pid}-${randomBytes(3).toString('hex')}.partial`;
    const output = new FileOutput(path, partial, await open(partial, CREATE, 0o600));
    try {
      if (owner !== undefined) await output.#handle.chown(owner.uid, owner.gid);
      await output.#keepSomeSpace();
      return output;
    } catch (error) {
      await output.discard();
      throw error;
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length; ) {
      const rest = bytes.subarray(written);
      const { bytesWritten } = await this.#handle.write(rest, 0, rest.length, this.#length);
      written += bytesWritten;
      this.#length += bytesWritten;
    }
  }

  async takeBack(length: number): Promise<void> {
    await this.#freeReserve();
    await this.#handle.truncate(length);
    this.#length = length;
  }

  /** Renames it to its final name. */
  async commit(): Promise<void> {
    await this.#freeReserve();
    await this.#handle.sync();
    await this.#handle.close();
    await rename(this.#partial, this.path);
    await syncDirectory(dirname(this.path));
  }

  async discard(): Promise<void> {
    await this.#freeReserve();
    await this.#handle.close();
    await rm(this.#partial, { force: true });
  }

  async #keepSomeSpace(): Promise<void> {
    const path = `${this.#partial}.reserve`;
    await using handle = await open(path, CREATE, 0o600);
    this.#reserve = path;
    await handle.writeFile(randomBytes(RESERVED_BYTES));
    // File systems with delayed allocation would report a full disk too late.
    await handle.sync();
  }

  async #freeReserve(): Promise<void> {
    if (this.#reserve !== undefined) await rm(this.#reserve, { force: true });
    this.#reserve = undefined;
  }
}

/** A file, or a link that is itself replaced; never a folder or a device. */
async function expectReplaceable(path: string): Promise<void> {
  const found = await lstat(path).catch(ifMissing);
  if (found === undefined || found.isFile() || found.isSymbolicLink()) return;
  throw new Failure('usage', `${path} cannot be replaced by a log bundle`, {
    expected: 'a regular file, or nothing',
    found: found.isDirectory() ? 'a folder' : 'a special file',
    fix: 'Use another file with --to or TAR_FILE.',
  });
}
