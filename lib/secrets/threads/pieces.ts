/** Small chunks are handed over together. */
export const PIECE_BYTES = 1 << 17;
/** Kept for later; more than a thread has of a few streams at once. */
const MAX_FREE = 8;

type Piece = Uint8Array<ArrayBuffer>;

/**
 * The memory in which streams are handed from thread to thread: what one has read goes back with what it writes.
 * New memory for each piece would outpace garbage collection, which then takes as long as the redaction.
 */
export class Pieces {
  readonly #free: ArrayBuffer[] = [];

  /** Of PIECE_BYTES; what it holds has to be overwritten. */
  take(): Piece {
    return new Uint8Array(this.#free.pop() ?? new ArrayBuffer(PIECE_BYTES));
  }

  /** Of a piece, or a part of one, that nobody reads any more. */
  giveBack({ buffer }: Piece): void {
    if (buffer.byteLength === PIECE_BYTES && this.#free.length < MAX_FREE) this.#free.push(buffer);
  }
}

/** Copies chunks into pieces. */
export class PieceWriter {
  readonly #pieces: Pieces;
  #piece: Piece | undefined;
  #length = 0;

  constructor(pieces: Pieces) {
    this.#pieces = pieces;
  }

  /** The pieces that a chunk fills. */
  *write(chunk: Uint8Array): Generator<Piece> {
    for (let at = 0; at < chunk.length; ) {
      this.#piece ??= this.#pieces.take();
      const part = chunk.subarray(at, at + PIECE_BYTES - this.#length);
      this.#piece.set(part, this.#length);
      at += part.length;
      this.#length += part.length;
      if (this.#length === PIECE_BYTES) yield* this.rest();
    }
  }

  /** What has been written since the last full piece. */
  *rest(): Generator<Piece> {
    const piece = this.#piece?.subarray(0, this.#length);
    this.#piece = undefined;
    this.#length = 0;
    if (piece !== undefined) yield piece;
  }
}
