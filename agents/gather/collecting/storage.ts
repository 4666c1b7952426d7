import { createReadStream, readFileSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes put aside until they are packed. */
export interface Piece {
  readonly bytes: number;
  /** All or nothing: partial writes are discarded. */
  append(bytes: Uint8Array): Promise<void>;
  /** Nothing more will be appended. */
  end(): Promise<void>;
  read(): AsyncIterable<Uint8Array>;
  readSync(): Buffer;
  remove(): Promise<void>;
}

/** Where pieces are kept. */
export interface Storage {
  createPiece(): Promise<Piece>;
}

/** Pieces as files of a folder that only this process uses. */
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
      // Only now: a write cut short by a full disk is beyond this offset and never read.
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

/** Pieces in memory, for a host without a writable disk; the caller limits their size. */
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
