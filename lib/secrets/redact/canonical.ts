import { codeOf } from './escapes.ts';
import type { Span } from './rule.ts';
import { lastUpTo } from './unwrap.ts';

const setOf = (chars: RegExp) =>
  Uint8Array.from({ length: 256 }, (_, byte) => Number(chars.test(String.fromCharCode(byte))));
/** Quotes, control characters, and all that is not ASCII: programs have too many ways to write them. */
const isDropped = setOf(/["'`^\x7f-\xff]|[^\n -~]/);
const isEscape = setOf(/[\\%]/);
/** What stands for itself where no escape has begun. */
const isPlain = setOf(/[\n !#(-*,-~](?<![\\^`;])/);
const PLUS = 0x2b;
const BLANK = 0x20;
const DOLLAR = 0x24;
const SEMICOLON = 0x3b;
const AMPERSAND = 0x26;
const NOWHERE = -1;
/** Of the longest escape. */
const MAX_ESCAPE = 9;

/**
 * Text without the ways in which programs write it: what they escape in URLs, markup and strings, at any depth, stands
 * as it is meant; the signs with which they escape and quote are left out, doubled `$` are one, and `+` is a blank. So
 * texts that mean the same are equal. Knows where each byte comes from. Its memory is used again for the next text.
 */
export class Canonical {
  #bytes = Buffer.alloc(0);
  #length = 0;
  /** Of each part, all of whose bytes stand side by side in the source: where it begins here and there. */
  #begins = new Int32Array(0);
  #starts = new Int32Array(0);
  /** Where its first byte ends in the source. */
  #ends = new Int32Array(0);
  #parts = 0;
  /** Where an escape has begun. */
  #escape = NOWHERE;

  /** The canonical form; valid until the next call. */
  of(source: Uint8Array): Buffer {
    this.#begin(source.length);
    const bytes = this.#bytes;
    const { length } = source;
    for (let at = 0; at < length; ) {
      if (this.#escape !== NOWHERE || isPlain[source[at] ?? 0] === 0) {
        this.#add(source[at] ?? 0, at, ++at);
        continue;
      }
      this.#open(at, at + 1);
      let to = this.#length;
      for (; at < length && isPlain[source[at] ?? 0] === 1; at++) bytes[to++] = source[at] ?? 0;
      this.#length = to;
    }
    this.#settle();
    return bytes.subarray(0, this.#length);
  }

  /** Where a part of the last canonical text stands in its source. */
  rawOf({ start, end }: Span): Span {
    return { start: this.#place(start).start, end: this.#place(end - 1).end };
  }

  #place(at: number): Span {
    const part = lastUpTo(this.#begins, at, this.#parts);
    const offset = at - (this.#begins[part] ?? 0);
    const start = (this.#starts[part] ?? 0) + offset;
    return { start, end: offset === 0 ? (this.#ends[part] ?? 0) : start + 1 };
  }

  #begin(length: number): void {
    this.#length = 0;
    this.#parts = 0;
    if (this.#bytes.length >= length) return;
    this.#bytes = Buffer.alloc(length);
    this.#begins = new Int32Array(length);
    this.#starts = new Int32Array(length);
    this.#ends = new Int32Array(length);
  }

  #open(start: number, end: number): void {
    const part = this.#parts++;
    this.#begins[part] = this.#length;
    this.#starts[part] = start;
    this.#ends[part] = end;
  }

  #add(byte: number, start: number, end: number): void {
    if (isPlain[byte] === 0) this.#settle();
    if (isDropped[byte] === 1) return;
    if (byte === DOLLAR && this.#length > 0 && this.#bytes[this.#length - 1] === DOLLAR) return;
    if (isEscape[byte] === 1) this.#escape = this.#length;
    this.#open(start, end);
    this.#bytes[this.#length++] = byte === PLUS ? BLANK : byte;
    if (byte === SEMICOLON) this.#decode(this.#length - 1 - this.#sinceAmpersand(), end);
    else if (this.#escape !== NOWHERE && isEscape[byte] === 0) this.#decode(this.#escape, end);
  }

  #sinceAmpersand(): number {
    const tail = this.#bytes.subarray(Math.max(0, this.#length - MAX_ESCAPE), this.#length);
    return tail.length - 1 - tail.lastIndexOf(AMPERSAND);
  }

  /** Replaces an escape that ends here. */
  #decode(from: number, end: number): void {
    const meant = codeOf(this.#bytes.toString('latin1', from, this.#length));
    if (meant !== undefined) {
      this.#length = from;
      this.#parts = lastUpTo(this.#begins, from, this.#parts);
      this.#escape = NOWHERE;
      this.#add(Math.min(meant, 0xff), this.#starts[this.#parts] ?? 0, end);
    } else if (from === this.#escape && this.#length - from > MAX_ESCAPE) this.#settle();
  }

  /** Leaves out what looked like the beginning of an escape. */
  #settle(): void {
    const from = this.#escape;
    this.#escape = NOWHERE;
    if (from === NOWHERE) return;
    const part = lastUpTo(this.#begins, from, this.#parts);
    this.#bytes.copyWithin(from, from + 1, this.#length--);
    this.#starts.copyWithin(part, part + 1, this.#parts);
    this.#ends.copyWithin(part, part + 1, this.#parts--);
  }
}
