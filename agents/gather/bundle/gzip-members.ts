import { promisify } from 'node:util';
import { crc32, gzip } from 'node:zlib';

const compress = promisify(gzip);

/** Large enough that the ends of the members cost nothing, small enough that a few in flight are little memory. */
export const MEMBER_BYTES = 512 << 10;
/** Blocks that are compressed at once; zlib's threads do it, the event loop goes on. */
const IN_FLIGHT = 3;
const MIN_CHUNK_BYTES = 1024;
const NEWLINE = 0x0a;

export interface GzipOptions {
  /** zlib's level; low levels are several times as fast and some percent larger. */
  readonly level: number;
  /** Of the text in one member, at most. Default: MEMBER_BYTES. */
  readonly memberBytes?: number;
}

/** A gzip file of its own, which is also a part of a longer one. */
export interface Member {
  readonly bytes: Uint8Array;
  /** Length of what it unpacks to. */
  readonly plainBytes: number;
}

/**
 * Compresses as pigz does: in blocks of their own, side by side, in order. The members
 * together are one gzip file (RFC 1952, 2.2), which every gunzip reads as one; cut anywhere
 * it can be read up to the last whole member. A member ends with a line where there is one.
 */
export async function* gzipMembers(
  chunks: AsyncIterable<Uint8Array>,
  { level, memberBytes = MEMBER_BYTES }: GzipOptions,
): AsyncGenerator<Member> {
  const blocks = new Blocks(memberBytes);
  const members: Promise<Member>[] = [];
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
    // What came before the stream failed is not lost.
    for (const block of blocks.rest()) begin(block);
    while (members.length > 0) yield* takeFirst(members);
    throw error;
  } finally {
    // What is under way when the reader goes away must not fail unheard.
    if (members.length > 0) await Promise.allSettled(members);
  }
  for (const block of blocks.rest()) begin(block);
  while (members.length > 0) yield* takeFirst(members);
}

export async function memberOf(block: Uint8Array, level: number): Promise<Member> {
  // Most of a member in one piece: each piece is a turn of the event loop.
  const chunkSize = Math.max(MIN_CHUNK_BYTES, block.length >> 2);
  return { bytes: await compress(block, { level, chunkSize }), plainBytes: block.length };
}

/** Magic, deflate, no flags, no time, no hint, unknown system. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);
const MAX_STORED_BYTES = 0xffff;

/** A member that holds the bytes as they are (RFC 1951, 3.2.4), in pieces: what is compressed need not be again. */
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

async function* takeFirst(members: Promise<Member>[]): AsyncGenerator<Member> {
  const first = members.shift();
  if (first !== undefined) yield await first;
}

interface Block {
  readonly bytes: Uint8Array;
  /** To be given back when the bytes are not needed any more. */
  readonly buffer: Uint8Array;
}

/** Collects chunks in buffers that are used again: a stream of them would outrun the garbage collection. */
class Blocks {
  readonly #size: number;
  readonly #free: Uint8Array[] = [];
  #buffer: Uint8Array;
  #length = 0;

  constructor(size: number) {
    this.#size = size;
    this.#buffer = Buffer.allocUnsafeSlow(size);
  }

  /** Takes the chunk in; each buffer that becomes full is a block, up to its last line. */
  *filledWith(chunk: Uint8Array): Generator<Block> {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + this.#size - this.#length);
      this.#buffer.set(part, this.#length);
      this.#length += part.length;
      at += part.length;
      if (this.#length < this.#size) continue;
      const full = this.#buffer;
      // A line that fills a block is cut.
      const end = full.lastIndexOf(NEWLINE) + 1 || this.#size;
      this.#buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#size);
      this.#buffer.set(full.subarray(end));
      this.#length = this.#size - end;
      yield { bytes: full.subarray(0, end), buffer: full };
    }
  }

  /** What is in no block yet. */
  *rest(): Generator<Block> {
    const length = this.#length;
    this.#length = 0;
    if (length > 0) yield { bytes: this.#buffer.subarray(0, length), buffer: this.#buffer };
  }

  giveBack(buffer: Uint8Array): void {
    this.#free.push(buffer);
  }
}
