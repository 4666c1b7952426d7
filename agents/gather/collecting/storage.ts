import { createReadStream, readFileSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Some bytes, put aside until they are packed. */
export interface Piece {
  readonly bytes: number;
  /** All or nothing: what cannot be kept whole is not kept. */
  append(bytes: Uint8Array): Promise<void>;
  /** Nothing more will be appended. */
  end(): Promise<void>;
  read(): AsyncIterable<Uint8Array>;
  readSync(): Buffer;
  remove(): Promise<void>;
}

/** Where pieces are. */
export interface Storage {
  createPiece(): Promise<Piece>;
}

/** Pieces in files of a folder, which only this process uses. */
export class DiskStorage implements Storage {
  readonly #folder: string;
  #made = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async createPiece(): Promise<Piece> {
    const path = join(this.#folder, String(this.#made++));
    return new FilePiece(path, await open(path, 'wx', 0o600));
  }
}

class FilePiece implements Piece {
  readonly #path: string;
  readonly #handle: FileHandle;
  #bytes = 0;

  constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async append(bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length; ) {
      const rest = bytes.subarray(written);
      const { bytesWritten } = await this.#handle.write(
        rest,
        0,
        rest.length,
        this.#bytes + written,
      );
      written += bytesWritten;
    }
    // Only now: a write that a full disk cut short is beyond the end and never read.
    this.#bytes += bytes.length;
  }

  async end(): Promise<void> {
    await this.#handle.close();
  }

  async *read(): AsyncGenerator<Uint8Array> {
    if (this.#bytes === 0) return;
    yield* createReadStream(this.#path, { end: this.#bytes - 1, highWaterMark: 256 << 10 });
  }

  readSync(): Buffer {
    return readFileSync(this.#path).subarray(0, this.#bytes);
  }

  async remove(): Promise<void> {
    await this.end();
    await rm(this.#path, { force: true });
  }
}

/** Pieces in memory, for a host on which nothing can be written any more; its user bounds them. */
export class MemoryStorage implements Storage {
  async createPiece(): Promise<Piece> {
    return new MemoryPiece();
  }
}

class MemoryPiece implements Piece {
  #parts: Uint8Array[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  async append(bytes: Uint8Array): Promise<void> {
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
  }

  async end(): Promise<void> {}

  async *read(): AsyncGenerator<Uint8Array> {
    yield* this.#parts;
  }

  readSync(): Buffer {
    return Buffer.concat(this.#parts);
  }

  async remove(): Promise<void> {
    this.#parts = [];
  }
}
