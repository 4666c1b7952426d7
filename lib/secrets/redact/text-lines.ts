const NEWLINE = 0x0a;
const MAX_SOUGHT = 32;

/** One line of a block, as latin1: a character for each byte. */
export interface TextLine {
  readonly start: number;
  /** Without the newline. */
  readonly end: number;
  readonly text: string;
}

/** The lines of a block, made as they are asked for. */
export class TextLines {
  readonly #bytes: Buffer;
  #last: TextLine | undefined;
  /** By text: where its last place is, and up to where it has been looked for. */
  readonly #sought = new Map<string, { at: number; upTo: number }>();

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The line around an offset; at a newline, the line after it. */
  at(offset: number): TextLine {
    const last = this.#last;
    if (last !== undefined && offset >= last.start && offset < last.end) return last;
    this.#last = this.#line(this.#bytes.lastIndexOf(NEWLINE, offset) + 1);
    return this.#last;
  }

  after({ end }: TextLine): TextLine | undefined {
    return end + 1 < this.#bytes.length ? this.#line(end + 1) : undefined;
  }

  /** The last line with a text before another line. Only a few texts can be looked for. */
  lastWith(text: string, { start }: TextLine): TextLine | undefined {
    const sought = this.#sought.get(text) ?? { at: -1, upTo: 0 };
    if (this.#sought.size >= MAX_SOUGHT && !this.#sought.has(text)) return undefined;
    const found = this.#bytes.subarray(sought.upTo, start).lastIndexOf(text);
    const at = found === -1 ? sought.at : sought.upTo + found;
    this.#sought.set(text, { at, upTo: start });
    return at === -1 ? undefined : this.#line(this.#bytes.lastIndexOf(NEWLINE, at) + 1);
  }

  #line(start: number): TextLine {
    const newline = this.#bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? this.#bytes.length : newline;
    return { start, end, text: this.#bytes.toString('latin1', start, end) };
  }
}
