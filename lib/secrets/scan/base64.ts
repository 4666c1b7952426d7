import { isHexadecimal, nextRun, percentBase64, readBase64 } from '../bytes/base64-text.ts';
import type { Budget } from '../bytes/budget.ts';
import type { ByteSink, Finder } from '../bytes/finder.ts';
import { holdsMarker } from '../bytes/markers.ts';

/** A run shorter than this begins no base64 text: lines of PEM have 64 characters. */
const shortestRun = 40;
const nextText = (window: Buffer, from: number) =>
  nextRun(window, from, shortestRun, percentBase64);

/**
 * Text that is decoded. The smallest private key (P-256 without its public half, 51
 * bytes) has 68 characters; the digests that fill package lists and logs have 64.
 */
const shortestText = 66;

/**
 * Finds base64 text, however broken into lines and escaped, and gives what it
 * decodes to to new sinks. The body of a PEM file is such text too. A character or
 * more of other text may stand directly before it, so it is decoded from each of the
 * four places where a group can begin.
 */
export function base64Finder(open: () => ByteSink, budget: Budget): Finder {
  let decoding: Base64Decoding | undefined;
  return (window, from, final) => {
    let at = from;
    for (;;) {
      if (decoding === undefined) {
        const start = nextText(window, at);
        if (start === -1) return Math.max(at, window.length - shortestRun + 1);
        at = start;
        decoding = new Base64Decoding(open, budget);
      }
      const { text, end, open: goesOn } = readBase64(window, at, final);
      if (goesOn) {
        decoding.push(text);
        return end;
      }
      decoding.end(text);
      decoding = undefined;
      // The byte at the end belongs to no base64 text, unless it is a percent sign that escapes another.
      at = end + 1;
    }
  };
}

const groupStarts = [0, 1, 2, 3] as const;

class Base64Decoding {
  readonly #open: () => ByteSink;
  readonly #budget: Budget;
  #held = '';
  #sinks: readonly ByteSink[] | undefined;

  constructor(open: () => ByteSink, budget: Budget) {
    this.#open = open;
    this.#budget = budget;
  }

  push(text: string): void {
    this.#held += text;
    // Whole groups for each start; three characters stay for the last of them.
    const length = (this.#held.length - groupStarts.length + 1) & ~3;
    if (this.#held.length >= shortestText) this.#decode(length, (sink, bytes) => sink.push(bytes));
  }

  end(text: string): void {
    this.#held += text;
    if (this.#sinks === undefined && !isWorthwhile(this.#held)) return;
    this.#decode(this.#held.length, (sink, bytes) => sink.end(bytes));
  }

  #decode(length: number, give: (sink: ByteSink, bytes: Buffer) => void): void {
    const isAllowed = this.#budget.spend(3 * length);
    this.#sinks ??= groupStarts.map(this.#open);
    for (const [start, sink] of this.#sinks.entries()) {
      const text = isAllowed ? this.#held.slice(start, start + length) : '';
      give(sink, Buffer.from(text, 'base64'));
    }
    this.#held = this.#held.slice(length);
  }
}

/** Longer texts get their sinks without being asked. */
const longestGlance = 1 << 12;
const glance = Buffer.alloc(groupStarts.length * longestGlance);

/** A quick look, because nearly all text of this length is a name or a digest. */
function isWorthwhile(text: string): boolean {
  if (text.length < shortestText) return false;
  if (text.length > longestGlance) return true;
  if (isHexadecimal(text)) return false;
  let end = 0;
  for (const start of groupStarts) {
    end += glance.write(text.slice(start), end, 'base64');
    // Keeps apart what the decodings hold.
    glance[end] = 0;
    end += 1;
  }
  const decoded = glance.subarray(0, end);
  return nextText(decoded, 0) !== -1 || holdsMarker(decoded);
}
