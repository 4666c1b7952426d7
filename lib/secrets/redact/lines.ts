import { setOf } from '../bytes/base64-text.ts';

const NEWLINE = 0x0a;
/** Longer lines are cut: nothing written as text has such lines, and memory must be bounded. */
export const MAX_LINE_BYTES = 1 << 20;
/** Blocks are large enough that what is done once for each costs nothing. */
const BLOCK_BYTES = 1 << 16;
const LEFT_OUT = Buffer.from('<redacted>');

/** Between words: control characters, space, quotes, `,`, `;`, `&`. */
const isGap = (byte = 0): boolean => byte <= 0x20 || gaps[byte] === 1;
const gaps = setOf('"\',;&');

/**
 * Chunks as blocks of whole lines. A line that is too long is cut into blocks between two words. A word that
 * is too long is left out, since nobody can tell what it holds.
 * What is cut depends on the text alone, not on the chunks.
 */
export async function* wholeLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const splitter = new LineSplitter();
  for await (const chunk of chunks) yield* splitter.push(chunk);
  yield* splitter.end();
}

/** The same for chunks that are given one by one. */
export class LineSplitter {
  #parts: Uint8Array[] = [];
  #length = 0;
  /** In a word that is left out. */
  #isInWord = false;

  *push(chunk: Uint8Array): Generator<Buffer> {
    this.#length += chunk.length;
    const isEnough = this.#length > MAX_LINE_BYTES || chunk.includes(NEWLINE);
    const isWhole = this.#length >= BLOCK_BYTES && isEnough;
    // A copy: the stream may use its memory again.
    this.#parts.push(isWhole ? chunk : Buffer.from(chunk));
    if (isWhole) yield* this.#split();
  }

  *end(): Generator<Buffer> {
    yield* this.#split();
    if (this.#length > 0) yield Buffer.concat(this.#parts);
  }

  *#split(): Generator<Buffer> {
    const bytes = Buffer.concat(this.#parts);
    let at = this.#isInWord ? wordEnd(bytes) : 0;
    this.#isInWord &&= at === bytes.length;
    while (at < bytes.length) {
      const window = bytes.subarray(at, at + MAX_LINE_BYTES);
      const end = window.lastIndexOf(NEWLINE) + 1;
      if (end === 0 && window.length < MAX_LINE_BYTES) break;
      const cut = end > 0 ? end : gapBefore(window, window.length);
      yield window.subarray(0, cut);
      at += cut;
      if (end > 0 || cut > MAX_LINE_BYTES / 2) continue;
      yield LEFT_OUT;
      at += wordEnd(bytes.subarray(at));
      this.#isInWord = at === bytes.length;
    }
    this.#parts = [bytes.subarray(at)];
    this.#length = bytes.length - at;
  }
}

/** The end of the last gap before `end`; the start of the bytes counts as one. */
export function gapBefore(bytes: Buffer, end: number): number {
  let at = Math.max(0, end);
  while (!isGap(bytes[at - 1])) at--;
  return at;
}

/** Where the first gap begins. */
function wordEnd(bytes: Buffer): number {
  const at = bytes.findIndex((byte) => isGap(byte));
  return at === -1 ? bytes.length : at;
}
