import { pipeline } from 'node:stream/promises';
import { createGunzip, gunzipSync } from 'node:zlib';
import { type GzipMember, gzipMembers, MEMBER_BYTES } from '../bundle/gzip-members.ts';
import type { Source } from '../source.ts';
import type { Piece, Storage } from './storage.ts';

/** The fastest zlib level for text; higher ones take twice the time for a tenth less output. */
export const LEVEL = 2;
/** Pieces per source limit: the granularity of trimming. */
const PIECES = 8;
const MAX_PIECE_BYTES = 2 << 20;
const MIN_MEMBER_BYTES = 4096;

interface Segment {
  readonly piece: Piece;
  plainBytes: number;
}

/** Tracks how many bytes may still be written to a storage. */
export interface Room {
  left: number;
}

export interface SpoolPlace {
  readonly storage: Storage;
  readonly room: Room;
  /** Called when no room is left; true if another file freed some. */
  makeRoom?(): Promise<boolean>;
}

/**
 * The redacted text of one source, compressed, in pieces of whole gzip members: it is copied
 * into the bundle unchanged, and its oldest part can be dropped without recompressing.
 */
export class Spooled {
  readonly #room: Room;
  readonly #source: Pick<Source, 'format' | 'gzipped'>;
  readonly #segments: Segment[] = [];
  #leftOutBytes = 0;
  /** Whether an unknown length of its end is missing. */
  #isCut = false;
  #failure: unknown;

  constructor(room: Room, source: Pick<Source, 'format' | 'gzipped'>) {
    this.#room = room;
    this.#source = source;
  }

  /** Why the stream ended early, if it did; what came before is kept. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Bytes of text that did not fit, as far as they were read. */
  get leftOut(): number {
    return this.#leftOutBytes;
  }

  get storedBytes(): number {
    return this.#segments.reduce((sum, { piece }) => sum + piece.bytes, 0);
  }

  /** Length of the text, including the line that says what is missing. */
  get plainBytes(): number {
    return this.#keptBytes + this.head.length + this.tail.length;
  }

  get #keptBytes(): number {
    return this.#segments.reduce((sum, { plainBytes }) => sum + plainBytes, 0);
  }

  /** First line of a text whose oldest part was dropped. */
  get head(): string {
    return this.#isAnnotated && this.#leftOutBytes > 0 && !this.#isCut
      ? `(${this.#leftOutBytes} bytes of the oldest part were left out)\n`
      : '';
  }

  /** Last line of a text that was cut. */
  get tail(): string {
    return this.#isAnnotated && this.#isCut ? '(the rest was left out)\n' : '';
  }

  /** Only texts are annotated: an extra line would make a document invalid. */
  get #isAnnotated(): boolean {
    return this.#source.format === 'text' && this.#source.gzipped !== true;
  }

  /** The gzip members, without head and tail. */
  async *members(): AsyncGenerator<Uint8Array> {
    for (const { piece } of this.#segments) yield* piece.read();
  }

  /** The text, with head and tail. */
  async *text(): AsyncGenerator<Uint8Array> {
    if (this.head !== '') yield Buffer.from(this.head);
    if (this.storedBytes > 0) yield* unzipped(this.members());
    if (this.tail !== '') yield Buffer.from(this.tail);
  }

  /** The text of a small file, synchronously. */
  textSync(): string {
    const members = Buffer.concat(this.#segments.map(({ piece }) => piece.readSync()));
    const text = members.length === 0 ? '' : gunzipSync(members).toString('utf8');
    return this.head + text + this.tail;
  }

  /** Drops the oldest piece; false if it is the only one. */
  async dropOldest(): Promise<boolean> {
    if (this.#segments.length < 2) return false;
    const oldest = this.#segments.shift();
    if (oldest === undefined) return false;
    this.#leftOutBytes += oldest.plainBytes;
    await this.#remove(oldest);
    return true;
  }

  async remove(): Promise<void> {
    for (const segment of this.#segments.splice(0)) await this.#remove(segment);
  }

  /** Back to the beginning, to be filled once more. */
  async restart(): Promise<void> {
    await this.remove();
    this.#leftOutBytes = 0;
    this.#isCut = false;
    this.#failure = undefined;
  }

  async #remove({ piece }: Segment): Promise<void> {
    this.#room.left += piece.bytes;
    await piece.remove();
  }

  /** Consumes the stream within the limits; never rejects. */
  async fill(
    chunks: AsyncIterable<Uint8Array>,
    { limitBytes, keep }: Pick<Source, 'limitBytes' | 'keep'>,
    { storage, makeRoom }: SpoolPlace,
  ): Promise<void> {
    const pieceBytes = Math.min(MAX_PIECE_BYTES, Math.ceil(limitBytes / PIECES));
    const memberBytes = Math.min(MEMBER_BYTES, Math.max(MIN_MEMBER_BYTES, pieceBytes));
    try {
      for await (const member of gzipMembers(chunks, { level: LEVEL, memberBytes })) {
        if (keep === 'oldest' && this.#keptBytes + member.plainBytes > limitBytes) {
          // The rest of the source is not read only to be discarded.
          this.#cut(member);
          break;
        }
        if (!(await this.#hasRoom(member, keep, makeRoom))) {
          this.#cut(member);
          throw new Error('left out: the space limit is reached');
        }
        await this.#append(member, pieceBytes, storage);
        while (keep === 'newest' && this.#keptBytes > limitBytes && (await this.dropOldest()));
      }
    } catch (error) {
      this.#failure = error;
    }
    await this.#segments
      .at(-1)
      ?.piece.end()
      .catch(() => undefined);
  }

  #cut(member: GzipMember): void {
    this.#isCut = true;
    this.#leftOutBytes += member.plainBytes;
  }

  async #hasRoom(
    member: GzipMember,
    keep: Source['keep'],
    makeRoom: SpoolPlace['makeRoom'],
  ): Promise<boolean> {
    while (this.#room.left < member.bytes.length) {
      if (makeRoom !== undefined && (await makeRoom())) continue;
      if (keep === 'newest' && (await this.dropOldest())) continue;
      return false;
    }
    return true;
  }

  async #append(member: GzipMember, pieceBytes: number, storage: Storage): Promise<void> {
    let segment = this.#segments.at(-1);
    if (segment === undefined || segment.plainBytes + member.plainBytes > pieceBytes) {
      await segment?.piece.end();
      segment = { piece: await storage.createPiece(), plainBytes: 0 };
      this.#segments.push(segment);
    }
    await segment.piece.append(member.bytes);
    segment.plainBytes += member.plainBytes;
    this.#room.left -= member.bytes.length;
  }
}

/** Decompresses gzip members. */
export async function* unzipped(members: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  const written = pipeline(members, gunzip);
  // A failure surfaces in the loop below.
  written.catch(() => undefined);
  yield* gunzip;
  await written;
}
