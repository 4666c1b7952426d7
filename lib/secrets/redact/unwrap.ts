import { codeOf } from './escapes.ts';
import type { Span } from './rule.ts';

/** For classes of characters: quotes as they are, and one character for each way in which a quote is escaped. */
export const QUOTES = '"\'`\ue000-\ue4ff';
/** The same for ends of lines. */
export const BREAKS = '\\n\ue600';
const ESCAPED_BREAK = '\ue600';
const FIRST_QUOTE = 0xe000;
/** Ways to escape quotes that are told apart. */
const MAX_QUOTES = 0x500;

/** Colours of a terminal, as they are or as programs escape them. */
export const COLOUR = '(?:\\x1b|\\\\{1,4}(?:u001[bB]|x1[bB]|033|e)|#033|\\^\\[)\\[[\\d;]{0,16}[mK]';

const ISO = '\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d[\\d.,:Z+-]{0,32}';
/** A host and a program, rather than words of a message. */
const SENDER =
  '[A-Za-z0-9][\\w.-]{0,63} (?![^\\s:]*(?:[Pp]ass|PASS|[Ss]ecret|SECRET|[Tt]oken|TOKEN|[Kk]ey|KEY|[Cc]red|pwd|psk))[^\\s:[\\]"=]{1,64}(?:\\[\\d{1,10}\\])?: ';
const SYSLOG = `[A-Z][a-z]{2} [ \\d]?\\d \\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})? ${SENDER}`;
const KLOG =
  '[IWEF]\\d{4} \\d\\d:\\d\\d:\\d\\d\\.\\d{1,9} {1,8}\\d{1,10} [\\w./-]{1,80}:\\d{1,6}\\] ';
/** What a journal, a container's runtime and a logger write before a message. */
const PREFIXES = new RegExp(
  `^(?:(?:${SYSLOG}|${ISO} (?:std(?:out|err) [FP] (?:${ISO} )?|${SENDER})?)(?:${KLOG})?|${KLOG})`,
  'gm',
);
const ESCAPES = new RegExp(
  `${COLOUR}|(?<!\\\\)\\\\{1,63}(?:u00[0-7][\\da-fA-F]|x[0-7][\\da-fA-F]|["'\`/nrt])|#01[25]|&(?:quot|apos|amp|lt|gt|#(?:\\d{1,3}|x[\\da-fA-F]{1,2}));|<!\\[CDATA\\[|\\]\\]>`,
  'g',
);
/**
 * A block of text, as latin1, without what programs wrap text in: escapes of JSON, C, HTML and XML, colours, the
 * prefixes of logs. A quote that is escaped is another character than one that is not, so that a text in quotes ends
 * with the quote with which it began. Knows where in the block each character stands.
 */
export class Unwrapped {
  readonly text: string;
  /** Of each part that stands in the block as it is: where it begins in the text and in the block, its length. */
  readonly #begins: number[] = [];
  readonly #raw: number[] = [];
  readonly #lengths: number[] = [];
  readonly #parts: string[] = [];
  /** By how it is written: what stands for it. */
  readonly #meanings = new Map<string, string>();
  #quotes = 0;
  #kept = 0;
  #length = 0;

  constructor(source: string) {
    // Two searches: together they would take three times as long. There can be more matches than memory.
    const escapes = source.matchAll(ESCAPES);
    let next = escapes.next();
    const unwrapUpTo = (end: number) => {
      for (; next.done !== true && next.value.index < end; next = escapes.next()) {
        this.#unwrap(source, next.value.index, next.value[0]);
      }
    };
    for (const { index, 0: prefix } of source.matchAll(PREFIXES)) {
      unwrapUpTo(index);
      if (index >= this.#kept) this.#replace(source, index, index + prefix.length, '');
    }
    unwrapUpTo(source.length);
    this.#replace(source, source.length, source.length, '');
    this.text = this.#parts.join('');
  }

  #unwrap(source: string, at: number, written: string): void {
    if (at < this.#kept) return;
    const by = this.#meanings.get(written) ?? this.#meaning(written);
    const isBetween = by === '' && isWord(source[at - 1]) && isWord(source[at + written.length]);
    if (by !== written) this.#replace(source, at, at + written.length, isBetween ? ' ' : by);
  }

  #meaning(written: string): string {
    let by = unwrapped(written);
    // After an even number of backslashes, each escapes the next, and the quote is none that is escaped.
    if (/["'`]/.test(by)) by = /^(?:\\\\)+.$/.test(written) ? written : nextQuote(this.#quotes++);
    this.#meanings.set(written, by);
    return by;
  }

  #replace(source: string, begin: number, end: number, by: string): void {
    this.#begins.push(this.#length);
    this.#raw.push(this.#kept);
    this.#lengths.push(begin - this.#kept);
    this.#parts.push(source.slice(this.#kept, begin), by);
    this.#length += begin - this.#kept + by.length;
    this.#kept = end;
  }

  /** Where in the text a byte of the block is. */
  at(raw: number): number {
    const part = lastUpTo(this.#raw, raw);
    return (
      (this.#begins[part] ?? 0) + Math.min(raw - (this.#raw[part] ?? 0), this.#lengths[part] ?? 0)
    );
  }

  /** A part of the text in the block. */
  rawOf({ start, end }: Span): Span {
    const first = this.#place(start);
    const last = this.#place(Math.max(start, end - 1));
    return { start: first.start, end: end > start ? last.end : first.start };
  }

  #place(index: number): Span {
    const part = lastUpTo(this.#begins, index);
    const raw = this.#raw[part] ?? 0;
    const length = this.#lengths[part] ?? 0;
    const offset = index - (this.#begins[part] ?? 0);
    if (offset < length) return { start: raw + offset, end: raw + offset + 1 };
    return { start: raw + length, end: this.#raw[part + 1] ?? raw + length };
  }
}

/** The index of the last of ascending numbers that is not above a limit. */
export function lastUpTo(
  numbers: ArrayLike<number>,
  limit: number,
  count = numbers.length,
): number {
  let [low, high] = [0, count];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle;
    else high = middle;
  }
  return low;
}

/** What a piece of wrapping stands for. */
function unwrapped(written: string): string {
  // As rsyslog escapes them.
  if (written.startsWith('#01')) return ESCAPED_BREAK;
  if (!/^[\\&]/.test(written) || /[mK]$/.test(written)) return '';
  const own = written.replace(/^\\+/, '\\');
  const byte = codeOf(own) ?? own.charCodeAt(1);
  return byte === 0x0a || byte === 0x0d ? ESCAPED_BREAK : String.fromCharCode(byte & 0xff);
}

const nextQuote = (count: number) =>
  String.fromCharCode(FIRST_QUOTE + Math.min(count, MAX_QUOTES - 1));
const isWord = (char = '') => /\w/.test(char);

/** A line's end that only the block itself has, rather than a text that is quoted in it. */
export const isBreak = (char: string | undefined): boolean =>
  char === '\n' || char === ESCAPED_BREAK;
