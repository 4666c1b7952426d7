import { promisify } from 'node:util';
import { crc32, gzip } from 'node:zlib';

const compress = promisify(gzip);

/** Large enough that the overhead per member is negligible, small enough that a few in flight use little memory. */
export const MEMBER_BYTES = 512 << 10;
/** Blocks compressed concurrently, by zlib's threads; the event loop is not blocked. */
const IN_FLIGHT = 3;
const MIN_CHUNK_BYTES = 1024;
const NEWLINE = 0x0a;

export interface GzipOptions {
  /** zlib's level; low levels are several times as fast, and their output is a few percent larger. */
  readonly level: number;
  /** Maximum text per member. Default: MEMBER_BYTES. */
  readonly memberBytes?: number;
}

/** A complete gzip file that can also be part of a longer one. */
export interface GzipMember {
  readonly bytes: Uint8Array;
  /** Uncompressed length. */
  readonly plainBytes: number;
}

/**
 * Compresses as pigz does: in independent blocks, concurrently, in order. The concatenated
 * members are one gzip file (RFC 1952, 2.2), which every gunzip reads as one; a truncated file
 * is readable up to its last complete member. Members end at a line break where there is one.
 */
export async function* gzipMembers(
  chunks: AsyncIterable<Uint8Array>,
  { level, memberBytes = MEMBER_BYTES }: GzipOptions,
): AsyncGenerator<GzipMember> {
  const blocks = new Blocks(memberBytes);
  const members: Promise<GzipMember>[] = [];
  const begin = ({ buffer, bytes }: Block) => {
    members.push(memberOf(bytes, level).finally(() => blocks.giveBack(buffer)));
  };
  try {
    for await (const chunk of chunks) {
      for (const block of blocks.filledWith(chunk)) {
        begin(block);
        if (members.length >= IN_FLIGHT) yield* takeFirst(members);
      }
    }
  } catch (error) {
    // Keep what arrived before the stream failed.
    for (const block of blocks.rest()) begin(block);
    while (members.length > 0) yield* takeFirst(members);
    throw error;
  } finally {
    // If the reader stops, pending work must not cause an unhandled rejection.
    if (members.length > 0) await Promise.allSettled(members);
  }
  for (const block of blocks.rest()) begin(block);
  while (members.length > 0) yield* takeFirst(members);
}

export async function memberOf(block: Uint8Array, level: number): Promise<GzipMember> {
  // Large output chunks: each chunk costs a turn of the event loop.
  const chunkSize = Math.max(MIN_CHUNK_BYTES, block.length >> 2);
  return { bytes: await compress(block, { level, chunkSize }), plainBytes: block.length };
}

/** Magic, deflate, no flags, no time, no hint, unknown system. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);
const MAX_STORED_BYTES = 0xffff;

/** A member that stores the bytes uncompressed (RFC 1951, 3.2.4), in pieces, for data that is already compressed. */
export function* storedMember(bytes: Uint8Array): Generator<Uint8Array> {
  yield HEADER;
  for (let at = 0; at < bytes.length; at += MAX_STORED_BYTES) {
    const part = bytes.subarray(at, at + MAX_STORED_BYTES);
    const head = Buffer.alloc(5);
    head.writeUInt8(at + part.length === bytes.length ? 1 : 0, 0);
    head.writeUInt16LE(part.length, 1);
    head.writeUInt16LE(~part.length & 0xffff, 3);
    yield head;
    yield part;
  }
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(bytes), 0);
  trailer.writeUInt32LE(bytes.length >>> 0, 4);
  yield trailer;
}

async function* takeFirst(members: Promise<GzipMember>[]): AsyncGenerator<GzipMember> {
  const first = members.shift();
  if (first !== undefined) yield await first;
}

interface Block {
  readonly bytes: Uint8Array;
  /** Must be released when the bytes are no longer needed. */
  readonly buffer: Uint8Array;
}

/** Collects chunks in reusable buffers: a stream of new buffers would outpace garbage collection. */
class Blocks {
  readonly #size: number;
  readonly #free: Uint8Array[] = [];
  #buffer: Uint8Array;
  #length = 0;

  constructor(size: number) {
    this.#size = size;
    this.#buffer = Buffer.allocUnsafeSlow(size);
  }

  /** Adds the chunk; each full buffer is emitted as a block, up to its last line break. */
  *filledWith(chunk: Uint8Array): Generator<Block> {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + this.#size - this.#length);
      this.#buffer.set(part, this.#length);
      this.#length += part.length;
      at += part.length;
      if (this.#length < this.#size) continue;
      const full = this.#buffer;
      // A line that fills a whole block is split.
      const end = full.lastIndexOf(NEWLINE) + 1 || this.#size;
      this.#buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#size);
      this.#buffer.set(full.subarray(end));
      this.#length = this.#size - end;
      yield { bytes: full.subarray(0, end), buffer: full };
    }
  }

  /** Bytes not yet in any block. */
  *rest(): Generator<Block> {
    const length = this.#length;
    this.#length = 0;
    if (length > 0) yield { bytes: this.#buffer.subarray(0, length), buffer: this.#buffer };
  }

  giveBack(buffer: Uint8Array): void {
    this.#free.push(buffer);
  }
}
