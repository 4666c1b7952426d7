import type { Span } from './rule.ts';

/** For classes of characters: quotes as they are, and one character for each way in which a quote is escaped. */
export const QUOTES = '"\'`\ue000-\ue4ff';
/** The same for ends of lines. */
export const BREAKS = '\\n\ue600';
const ESCAPED_BREAK = '\ue600';
const FIRST_QUOTE = 0xe000;
/** Of backslashes before a quote that are told apart. */
const LEVELS = 64;

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
  `${COLOUR}|(?<!\\\\)\\\\{1,${LEVELS - 1}}(?:u00[0-7][\\da-fA-F]|x[0-7][\\da-fA-F]|["'\`/nrt])|#01[25]|&(?:quot|apos|amp|lt|gt|#(?:\\d{1,3}|x[\\da-fA-F]{1,2}));|<!\\[CDATA\\[|\\]\\]>`,
  'g',
);
/** None of these begins with anything else. */
const MAY_ESCAPE = ['\\', '&', '\x1b', '#0', '^[', ']]>'];
export const ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  apos: "'",
  amp: '&',
  lt: '<',
  gt: '>',
};
export const LETTERS: Readonly<Record<string, string>> = { n: '\n', r: '\n', t: '\t' };
/** The ways of escaping that are told apart. */
const WAYS = { backslash: 0, code: 1, entity: 2, number: 3 } as const;

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
  #kept = 0;
  #length = 0;

  constructor(source: string) {
    const isEscaped = MAY_ESCAPE.some((text) => source.includes(text));
    // Two searches: together they would take three times as long. There can be more matches than memory.
    const escapes = isEscaped ? source.matchAll(ESCAPES) : [].values();
    let next = escapes.next();
    const unwrapUpTo = (end: number) => {
      for (; next.done !== true && next.value.index < end; next = escapes.next()) {
        this.#unwrap(source, next.value.index, next.value[0]);
      }
    };
    for (const { index, 0: prefix } of source.matchAll(PREFIXES)) {
      unwrapUpTo(index);
      this.#unwrap(source, index, prefix);
    }
    unwrapUpTo(source.length);
    this.#replace(source, source.length, source.length, '');
    this.text = this.#parts.join('');
  }

  #unwrap(source: string, at: number, written: string): void {
    if (at < this.#kept) return;
    let by = unwrapped(written);
    let begin = at;
    const end = at + written.length;
    // Backslashes before those of the quote's own level are escaped ones.
    if (isQuote(by)) begin = end - lengthOf(written);
    else if (by === '' && isWord(source[at - 1]) && isWord(source[end])) by = ' ';
    this.#replace(source, begin, end, by);
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
function lastUpTo(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle;
    else high = middle;
  }
  return low;
}

/** What a piece of wrapping stands for. */
function unwrapped(written: string): string {
  if (written.startsWith('&')) return ofEntity(written.slice(1, -1));
  // As rsyslog escapes them.
  if (written.startsWith('#01')) return ESCAPED_BREAK;
  if (!written.startsWith('\\') || /[mK]$/.test(written)) return '';
  const code = written.replace(/^\\+/, '');
  const level = written.length - code.length;
  if (code.length > 1) return character(Number.parseInt(code.slice(-2), 16), WAYS.code, level);
  const letter = LETTERS[code];
  if (letter !== undefined) return letter === '\n' ? ESCAPED_BREAK : letter;
  return level % 2 === 0 ? code : character(code.charCodeAt(0), WAYS.backslash, levelOf(level));
}

/** How often a quote with so many backslashes is quoted: each time adds one to twice their number. */
function levelOf(backslashes: number): number {
  let level = 0;
  while ((backslashes >> level) % 2 === 1) level++;
  return level;
}

/** Of a quote with the backslashes of its own level. */
const lengthOf = (written: string) => 2 ** levelOf(written.length - 1);

const isQuote = (by: string) => by === '"' || by === "'" || by === '`' || BACKSLASHED.test(by);
const BACKSLASHED = /^[\ue000-\ue0bf]$/;
const isWord = (char = '') => /\w/.test(char);

function ofEntity(name: string): string {
  const known = ENTITIES[name];
  if (known !== undefined) return character(known.charCodeAt(0), WAYS.entity, 0);
  const digits = name.slice(1);
  const code = digits.startsWith('x') ? Number.parseInt(digits.slice(1), 16) : Number(digits);
  return character(code & 0xff, WAYS.number, 0);
}

function character(code: number, way: number, level: number): string {
  const char = String.fromCharCode(code);
  const kind = '"\'`'.indexOf(char);
  if (kind !== -1) return String.fromCharCode(FIRST_QUOTE + (way * 3 + kind) * LEVELS + level);
  return code === 0x0a || code === 0x0d ? ESCAPED_BREAK : char;
}

/** A line's end that only the block itself has, rather than a text that is quoted in it. */
export const isBreak = (char: string | undefined): boolean =>
  char === '\n' || char === ESCAPED_BREAK;
