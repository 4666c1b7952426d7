import type { Place, Secret, Span } from './line-rule.ts';
import type { TextLine } from './text-lines.ts';
import type { Below } from './value-lines.ts';

/** What a journal or a container runtime writes before a message. */
const PREFIX = /^(?:.{0,120}?(?:\]: |std(?:out|err) [FP] ))?\s*/;
const PARTIAL = /^\S{20,40} std(?:out|err) P /;
const CONTINUED = /^\S{20,40} std(?:out|err) [FP] /;
/** The runtime cuts lines at 16 KiB. */
const MAX_PARTS = 64;
const MAX_LINES = 40;

/** The only word of the next line, or of the one after an empty line, as in "Initial admin password:". */
export function wordBelow({ line, lines, isLast }: Place): Below {
  let below: TextLine | undefined = line;
  for (let count = 0; count < 2; count++) {
    below = below === undefined ? undefined : lines.after(below);
    if (below === undefined) return { secrets: [], isOpen: !isLast };
    const start = PREFIX.exec(below.text)?.[0].length ?? 0;
    const text = below.text.slice(start).trimEnd();
    if (text === '') continue;
    const secrets = /\s/.test(text) ? [] : [{ start, end: start + text.length, line: below }];
    return { secrets, isOpen: !isLast && lines.after(below) === undefined };
  }
  return { secrets: [], isOpen: false };
}

/** The first word of the next line, after a backslash that continues the line. */
export function continuedBelow({ line, lines, isLast }: Place): Below {
  const below = lines.after(line);
  if (below === undefined) return { secrets: [], isOpen: !isLast };
  const [word] = /^\s*["']?(?<word>[^\s"']+)/d.exec(below.text)?.indices?.groups?.word ?? [];
  const end = word === undefined ? undefined : below.text.slice(word).search(/[\s"']|$/);
  const secrets =
    word === undefined || end === undefined ? [] : [{ start: word, end: word + end, line: below }];
  return { secrets, isOpen: !isLast && lines.after(below) === undefined };
}

/** The lines after `"""` or `'''`, up to the same. */
export function quotedBelow({ line, lines, isLast }: Place, quote: string): Below {
  const secrets: Secret[] = [];
  let below = lines.after(line);
  for (let count = 0; count < MAX_LINES && below !== undefined; count++) {
    const close = below.text.indexOf(quote);
    const end = close === -1 ? below.text.trimEnd().length : close;
    const start = below.text.length - below.text.trimStart().length;
    if (end > start) secrets.push({ start, end, line: below });
    if (close !== -1) return { secrets, isOpen: false };
    below = lines.after(below);
  }
  return { secrets, isOpen: below === undefined && !isLast };
}

/**
 * The rest of a value that goes to the end of a line which a container runtime has cut into parts, up to its
 * closing quote, or else the end of the word.
 */
export function inNextParts(
  { line, lines, isLast }: Pick<Place, 'line' | 'lines' | 'isLast'>,
  value: Span,
  quote: string | undefined,
): Below {
  const secrets: Secret[] = [];
  let last = line;
  if (value.end < line.text.length || !PARTIAL.test(line.text)) return { secrets, isOpen: false };
  for (let part = 0; part < MAX_PARTS && PARTIAL.test(last.text); part++) {
    const next = lines.after(last);
    if (next === undefined) return { secrets, isOpen: !isLast };
    const start = CONTINUED.exec(next.text)?.[0].length;
    if (start === undefined) break;
    const rest = next.text.slice(start);
    const end = quote === undefined ? rest.search(/[\s"',;&)\]}\\]/) : rest.indexOf(quote);
    secrets.push({ start, end: end === -1 ? next.text.length : start + end, line: next });
    last = next;
    if (end !== -1) break;
  }
  return { secrets, isOpen: !isLast && lines.after(last) === undefined };
}
