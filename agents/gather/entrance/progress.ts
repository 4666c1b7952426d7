import { inOneLine } from '../../../lib/base/printable.ts';

/** A stream for messages, which may be a terminal. */
export interface WordStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const DEFAULT_COLUMNS = 80;
/** Update interval of the terminal's line; faster is unreadable. */
const INTERVAL_MS = 100;
const TO_LINE_START = '\r\x1b[K';

/** Reports progress: one sentence per phase and, on a terminal, one line updated in place. */
export class GatherProgress {
  readonly #stream: WordStream;
  #shownAt = 0;

  constructor(stream: WordStream) {
    this.#stream = stream;
  }

  phase(text: string): void {
    this.#clear();
    this.#stream.write(`${text}\n`);
  }

  step(done: number, of: number, path: string): void {
    const now = performance.now();
    if (this.#stream.isTTY !== true || now - this.#shownAt < INTERVAL_MS) return;
    this.#shownAt = now;
    const line = `  ${done} of ${of}: ${inOneLine(path)}`;
    const width = (this.#stream.columns ?? DEFAULT_COLUMNS) - 1;
    this.#stream.write(`${TO_LINE_START}${line.slice(0, width)}`);
  }

  end(): void {
    this.#clear();
  }

  #clear(): void {
    if (this.#stream.isTTY === true) this.#stream.write(TO_LINE_START);
  }
}
