import { pipeline } from 'node:stream/promises';
import { createGunzip, gunzipSync } from 'node:zlib';
import { gzipMembers, MEMBER_BYTES, type Member } from '../bundle/gzip-members.ts';
import type { Source } from '../source.ts';
import type { Piece, Storage } from './storage.ts';

/** The fastest of zlib's levels for text; higher ones take twice the time for a tenth less. */
export const LEVEL = 2;
/** Of a source's limit: how exactly its newest part is kept. */
const PIECES = 8;
const MAX_PIECE_BYTES = 2 << 20;
const MIN_MEMBER_BYTES = 4096;

interface Segment {
  readonly piece: Piece;
  plainBytes: number;
}

/** How many bytes may still be written to a storage. */
export interface Room {
  left: number;
}

export interface SpoolPlace {
  readonly storage: Storage;
  readonly room: Room;
  /** Called when there is no room left; true if another file gave some up. */
  makeRoom?(): Promise<boolean>;
}

/**
 * The redacted text of one source, compressed, in pieces of whole gzip members: it is
 * packed as it is, and can lose its oldest part without being packed again.
 */
export class Spooled {
  readonly #room: Room;
  readonly #source: Pick<Source, 'format' | 'gzipped'>;
  readonly #segments: Segment[] = [];
  #leftOutBytes = 0;
  /** Whether its end is missing, of unknown length. */
  #isCut = false;
  #failure: unknown;

  constructor(room: Room, source: Pick<Source, 'format' | 'gzipped'>) {
    this.#room = room;
    this.#source = source;
  }

  /** Why the stream ended early, if it did; what came before is there. */
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

  /** Length of its text, with the line that says what is missing. */
  get plainBytes(): number {
    return this.#keptBytes + this.head.length + this.tail.length;
  }

  get #keptBytes(): number {
    return this.#segments.reduce((sum, { plainBytes }) => sum + plainBytes, 0);
  }

  /** First line of a text whose oldest part is missing. */
  get head(): string {
    return this.#isAnnotated && this.#leftOutBytes > 0 && !this.#isCut
      ? `(${this.#leftOutBytes} bytes of the oldest part were left out)\n`
      : '';
  }

  /** Last line of a text that goes on. */
  get tail(): string {
    return this.#isAnnotated && this.#isCut ? '(the rest was left out)\n' : '';
  }

  /** A document would not be one any more. */
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

  /** The text of a small one at once. */
  textSync(): string {
    const members = Buffer.concat(this.#segments.map(({ piece }) => piece.readSync()));
    const text = members.length === 0 ? '' : gunzipSync(members).toString('utf8');
    return this.head + text + this.tail;
  }

  /** Gives up its oldest piece; false if that is the only one. */
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

  async #remove({ piece }: Segment): Promise<void> {
    this.#room.left += piece.bytes;
    await piece.remove();
  }

  /** Takes in everything that the stream gives, within the limits; never rejects. */
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
          // What a source still has is not read to its end only to be thrown away.
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

  #cut(member: Member): void {
    this.#isCut = true;
    this.#leftOutBytes += member.plainBytes;
  }

  async #hasRoom(
    member: Member,
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

  async #append(member: Member, pieceBytes: number, storage: Storage): Promise<void> {
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

/** What is in gzip members. */
export async function* unzipped(members: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  const written = pipeline(members, gunzip);
  // A failure ends the reading below.
  written.catch(() => undefined);
  yield* gunzip;
  await written;
}
