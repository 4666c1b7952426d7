import type { Span } from './rule.ts';
import { ENTITIES, LETTERS } from './unwrap.ts';

const setOf = (chars: RegExp) =>
  Uint8Array.from({ length: 256 }, (_, byte) => Number(chars.test(String.fromCharCode(byte))));
/** Quotes, control characters, and all that is not ASCII: programs have too many ways to write them. */
const isDropped = setOf(/["'`^\x7f-\xff]|[^\n -~]/);
const isEscape = setOf(/[\\%&]/);
/** What stands for itself where no escape has begun. */
const isPlain = setOf(/[\n !#(-*,-~](?<![\\^`])/);
const PLUS = 0x2b;
const BLANK = 0x20;
const DOLLAR = 0x24;
const AMPERSAND = 0x26;
const NOWHERE = -1;
/** Of a byte, after the character with which they begin. */
const ESCAPE =
  /^(?:%(?<percent>[\da-f]{2})|\\x(?<hex>[\da-f]{2})|\\u(?<code>[\da-f]{4})|\\(?<octal>[0-3][0-7]{2})|\\(?<letter>[nrt])|&(?:#x(?<point>[\da-f]{1,5})|#(?<number>\d{1,6})|(?<name>[a-z]{2,4}));)$/i;
const MAX_ESCAPE = 9;

/**
 * Text without the ways in which programs write it: what they escape in URLs, markup and strings, at any depth, stands
 * as it is meant; the signs with which they escape and quote are left out, doubled `$` are one, and `+` is a blank. So
 * texts that mean the same are equal. Knows where each byte comes from. Its memory is used again for the next text.
 */
export class Canonical {
  #bytes = Buffer.alloc(0);
  #starts = new Int32Array(0);
  #ends = new Int32Array(0);
  #length = 0;
  /** Where an escape has begun. */
  #escape = NOWHERE;

  /** The canonical form; valid until the next call. */
  of(source: Uint8Array): Buffer {
    this.#begin(source.length);
    for (let at = 0; at < source.length; at++) {
      const byte = source[at] ?? 0;
      if (this.#escape === NOWHERE && isPlain[byte] === 1) this.#put(byte, at, at + 1);
      else this.#add(byte, at, at + 1);
    }
    this.#settle();
    return this.#bytes.subarray(0, this.#length);
  }

  /** Where a part of the last canonical text stands in its source. */
  rawOf({ start, end }: Span): Span {
    return { start: this.#starts[start] ?? 0, end: this.#ends[end - 1] ?? 0 };
  }

  #begin(length: number): void {
    this.#length = 0;
    if (this.#bytes.length >= length) return;
    this.#bytes = Buffer.alloc(length);
    this.#starts = new Int32Array(length);
    this.#ends = new Int32Array(length);
  }

  #put(byte: number, start: number, end: number): void {
    const at = this.#length++;
    this.#bytes[at] = byte;
    this.#starts[at] = start;
    this.#ends[at] = end;
  }

  #add(byte: number, start: number, end: number): void {
    if (isDropped[byte] === 1 || isEscape[byte] === 1) this.#settle();
    if (isDropped[byte] === 1) return;
    const last = this.#length - 1;
    if (byte === DOLLAR && last >= 0 && this.#bytes[last] === DOLLAR) {
      this.#ends[last] = end;
      return;
    }
    this.#put(byte === PLUS ? BLANK : byte, start, end);
    if (isEscape[byte] === 1) this.#escape = this.#length - 1;
    else if (this.#escape !== NOWHERE) this.#decode(end);
  }

  /** Replaces an escape that ends here. */
  #decode(end: number): void {
    const from = this.#escape;
    const meant = byteOf(this.#bytes.toString('latin1', from, this.#length));
    if (meant !== undefined) {
      this.#length = from;
      this.#escape = NOWHERE;
      this.#add(meant, this.#starts[from] ?? 0, end);
    } else if (this.#length - from > MAX_ESCAPE) this.#settle();
  }

  /** Leaves out what looked like the beginning of an escape. */
  #settle(): void {
    const from = this.#escape;
    this.#escape = NOWHERE;
    if (from === NOWHERE || this.#bytes[from] === AMPERSAND) return;
    for (const array of [this.#bytes, this.#starts, this.#ends]) {
      array.copyWithin(from, from + 1, this.#length);
    }
    this.#length -= 1;
  }
}

/** What an escape stands for; any byte that is dropped for what is not ASCII. */
function byteOf(text: string): number | undefined {
  const { percent, hex, code, octal, letter, point, number, name } =
    ESCAPE.exec(text)?.groups ?? {};
  const digits = percent ?? hex ?? code ?? point;
  if (digits !== undefined) return Math.min(Number.parseInt(digits, 16), 0xff);
  if (octal !== undefined) return Number.parseInt(octal, 8);
  if (number !== undefined) return Math.min(Number(number), 0xff);
  const char = LETTERS[letter ?? ''] ?? ENTITIES[name ?? ''];
  return char?.charCodeAt(0);
}
