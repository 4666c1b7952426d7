import type { LinePlace, LineSecret, Span } from './line-rule.ts';
import { looksRandom } from './names.ts';
import { matchAt, spanOf } from './separators.ts';
import type { TextLine } from './text-lines.ts';
import type { Below } from './value-lines.ts';

/** What a journal or a container runtime writes before a message. */
const PREFIX = /^(?:.{0,120}?(?:\]: |std(?:out|err) [FP] ))?\s*/;
const PARTIAL = /^\S{20,40} std(?:out|err) P /;
const CONTINUED = /^\S{20,40} std(?:out|err) [FP] /;
const WORD = /\s*["']?(?<word>[^\s"']+)/dy;
/** The runtime cuts lines at 16 KiB. */
const MAX_PARTS = 64;
const MAX_LINES = 40;

/**
 * Under "Initial admin password:", the only word of the next line, or of the one after an empty line, if it
 * is one that nobody would say.
 */
export function wordBelow({ line, lines }: LinePlace): Below {
  const next = lines.after(line);
  const below = next && messageOf(next) === '' ? lines.after(next) : next;
  if (below === undefined) return { secrets: [], isOpen: true };
  const text = messageOf(below);
  const end = below.text.trimEnd().length;
  const secrets = isMade(text) ? [{ start: end - text.length, end, line: below }] : [];
  return { secrets, isOpen: false };
}

const isMade = (word: string) =>
  looksRandom(word) || (/^\S{8,}$/.test(word) && /\d/.test(word) && /[a-z]/i.test(word));

const messageOf = ({ text }: TextLine) => text.replace(PREFIX, '').trimEnd();

/** The first word of the next line, after a backslash that continues the line. */
export function continuedBelow({ line, lines }: LinePlace): LineSecret[] {
  const below = lines.after(line);
  if (below === undefined) return [];
  const word = spanOf(matchAt(WORD, below.text, 0), 'word');
  return word === undefined ? [] : [{ ...word, line: below }];
}

/** The text of one or many lines after `"""` or `'''`, which ends at `from`, up to the same. */
export function quotedBelow({ line, lines }: LinePlace, quote: string, from: number): Below {
  const secrets: LineSecret[] = [];
  let last = line;
  let start = from;
  for (let count = 0; count < MAX_LINES; count++) {
    const close = last.text.indexOf(quote, start);
    const end = close === -1 ? last.text.trimEnd().length : close;
    secrets.push({ start, end, line: last });
    const next = close === -1 ? lines.after(last) : undefined;
    if (next === undefined) break;
    last = next;
    start = next.text.search(/\S|$/);
  }
  return { secrets, isOpen: lines.after(last) === undefined };
}

/**
 * The rest of a value that goes to the end of a line which a container runtime has cut into parts, up to its
 * closing quote, or else the end of the word.
 */
export function inNextParts(
  { line, lines }: Pick<LinePlace, 'line' | 'lines'>,
  value: Span,
  quote: string | undefined,
): LineSecret[] {
  const secrets: LineSecret[] = [];
  if (value.end < line.text.length) return secrets;
  let last = line;
  while (secrets.length < MAX_PARTS && PARTIAL.test(last.text)) {
    const next = lines.after(last);
    if (next === undefined) break;
    const start = CONTINUED.exec(next.text)?.[0].length;
    if (start === undefined) break;
    const rest = next.text.slice(start);
    const end = quote === undefined ? rest.search(/[\s"',;&)\]}\\]/) : rest.indexOf(quote);
    secrets.push({ start, end: end === -1 ? next.text.length : start + end, line: next });
    last = next;
    if (end !== -1) break;
  }
  return secrets;
}
