const NEWLINE = 0x0a;

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

  #line(start: number): TextLine {
    const newline = this.#bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? this.#bytes.length : newline;
    return { start, end, text: this.#bytes.toString('latin1', start, end) };
  }
}
