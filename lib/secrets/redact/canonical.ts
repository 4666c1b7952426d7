import { codeOf } from './escapes.ts';
import type { Span } from './rule.ts';
import { lastUpTo } from './unwrap.ts';

const setOf = (chars: RegExp) =>
  Uint8Array.from({ length: 256 }, (_, byte) => Number(chars.test(String.fromCharCode(byte))));
/** Quotes, control characters, and all that is not ASCII: programs have too many ways to write them. */
const isDropped = setOf(/["'`^\x7f-\xff]|[^\n -~]/);
/** What stands for itself wherever it is. */
const isPlain = setOf(/[\n !#(-*,-~](?<![\\^`;])/);
/** Of a colour of a terminal, which a letter ends. */
const isParameter = setOf(/[[\d;]/);
/** How long an escape is after its `\`, by the first byte. */
const sizes = new Uint8Array(256);
for (const char of 'nrtNRT') sizes[char.charCodeAt(0)] = 1;
for (const char of 'xX0123') sizes[char.charCodeAt(0)] = 3;
for (const char of 'uU') sizes[char.charCodeAt(0)] = 5;
const PLUS = 0x2b;
const ESC = 0x1b;
const BLANK = 0x20;
const DOLLAR = 0x24;
const PERCENT = 0x25;
const BACKSLASH = 0x5c;
const SEMICOLON = 0x3b;
const AMPERSAND = 0x26;
/** Of the longest entity. */
const MAX_ENTITY = 9;

/**
 * Text without the ways in which programs write it: what they escape in URLs, markup and strings, at any depth, stands
 * as it is meant; the signs with which they escape and quote are left out, as colours of terminals are, doubled `$` are
 * one, and `+` is a blank. So texts that mean the same are equal. Knows where each byte comes from. Its memory is used
 * again for the next text.
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

  /** The canonical form; valid until the next call. */
  of(source: Uint8Array): Buffer {
    this.#begin(source.length);
    const bytes = this.#bytes;
    const { length } = source;
    for (let at = 0; at < length; ) {
      if (isPlain[source[at] ?? 0] === 0) {
        at = this.#add(source, at);
        continue;
      }
      this.#open(at, at + 1);
      let to = this.#length;
      for (; at < length && isPlain[source[at] ?? 0] === 1; at++) bytes[to++] = source[at] ?? 0;
      this.#length = to;
    }
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
    // The next block can be a little longer.
    const size = length + (length >> 2);
    this.#bytes = Buffer.alloc(size);
    this.#begins = new Int32Array(size);
    this.#starts = new Int32Array(size);
    this.#ends = new Int32Array(size);
  }

  #open(start: number, end: number): void {
    const part = this.#parts++;
    this.#begins[part] = this.#length;
    this.#starts[part] = start;
    this.#ends[part] = end;
  }

  /** Adds what is meant by what stands at an offset; gives where that ends. */
  #add(source: Uint8Array, at: number): number {
    let byte = source[at] ?? 0;
    let start = at;
    for (let end = at + 1; ; ) {
      if (byte === ESC) {
        while (isParameter[source[end] ?? 0] === 1) end++;
        return end + 1;
      }
      if (isDropped[byte] === 1) return end;
      let meant: number | undefined;
      if (byte === PERCENT || byte === BACKSLASH) {
        const size = byte === PERCENT ? 2 : (sizes[source[end] ?? 0] ?? 0);
        if (size > 0)
          meant = codeOf(String.fromCharCode(byte, ...source.subarray(end, end + size)));
        // Without a meaning it is left out.
        if (meant === undefined) return end;
        end += size;
      } else {
        if (byte === DOLLAR && this.#bytes[this.#length - 1] === DOLLAR) return end;
        this.#open(start, end);
        this.#bytes[this.#length++] = byte === PLUS ? BLANK : byte;
        if (byte !== SEMICOLON) return end;
        meant = this.#takeEntity();
        if (meant === undefined) return end;
        start = this.#starts[this.#parts] ?? 0;
      }
      byte = Math.min(meant, 0xff);
    }
  }

  /** What an entity stands for that ends here; takes it out. */
  #takeEntity(): number | undefined {
    const tail = this.#bytes.subarray(Math.max(0, this.#length - MAX_ENTITY), this.#length);
    const from = tail.lastIndexOf(AMPERSAND);
    const meant = from === -1 ? undefined : codeOf(tail.toString('latin1', from));
    if (meant === undefined) return undefined;
    this.#length -= tail.length - from;
    this.#parts = lastUpTo(this.#begins, this.#length, this.#parts);
    return meant;
  }
}
