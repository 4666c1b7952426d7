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
export function diskStorage(folder: string): Storage {
  let made = 0;
  return {
    async createPiece() {
      const path = join(folder, String(made++));
      return filePiece(path, await open(path, 'wx', 0o600));
    },
  };
}

function filePiece(path: string, handle: FileHandle): Piece {
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    async append(part) {
      for (let written = 0; written < part.length; ) {
        const rest = part.subarray(written);
        const { bytesWritten } = await handle.write(rest, 0, rest.length, bytes + written);
        written += bytesWritten;
      }
      // Only now: a write that a full disk cut short is beyond the end and never read.
      bytes += part.length;
    },
    end: () => handle.close(),
    async *read() {
      if (bytes === 0) return;
      yield* createReadStream(path, { end: bytes - 1, highWaterMark: 256 << 10 });
    },
    readSync: () => readFileSync(path).subarray(0, bytes),
    async remove() {
      await handle.close();
      await rm(path, { force: true });
    },
  };
}

/** Pieces in memory, for a host on which nothing can be written any more; its user bounds them. */
export const memoryStorage: Storage = {
  async createPiece() {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    return {
      get bytes() {
        return bytes;
      },
      async append(part) {
        parts.push(part);
        bytes += part.length;
      },
      end: async () => undefined,
      async *read() {
        yield* parts;
      },
      readSync: () => Buffer.concat(parts),
      remove: async () => void parts.splice(0),
    };
  },
};
