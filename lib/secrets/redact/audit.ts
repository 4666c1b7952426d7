import type { InLine, Inside, LinePlace, LineRule, LineSecret, Span } from './line-rule.ts';

/** Command lines in the records of auditd: the arguments of EXECVE, and what it writes in hexadecimal. */
export const AUDIT: LineRule = {
  triggers: ['argc=', 'proctitle=', ' cmd=', ' data='],
  at: commandAt,
};

const ARGUMENT =
  /(?<![\w])a\d{1,5}(?:\[\d{1,5}\])?=(?:"(?<plain>[^"]{0,65536})"|(?<hex>(?:[0-9A-F]{2}){2,65536})(?![\w]))/dg;
const ENCODED = /(?:proctitle| cmd| data)=(?<hex>(?:[0-9A-F]{2}){6,65536})(?![\w])/dy;

function commandAt({ line: { text }, at }: LinePlace, inside: Inside): InLine {
  if (text.startsWith('argc=', at))
    return { next: text.length, secrets: inArguments(text, at, inside) };
  ENCODED.lastIndex = at;
  const place = ENCODED.exec(text)?.indices?.groups?.hex;
  if (place === undefined) return { next: at, secrets: [] };
  const [start, end] = place;
  const isSecret = inside(decoded(text.slice(start, end))) !== undefined;
  return { next: end, secrets: isSecret ? [{ start, end }] : [] };
}

/** An argument can tell that the next one is a secret. */
function inArguments(text: string, from: number, inside: Inside): LineSecret[] {
  ARGUMENT.lastIndex = from;
  const found: { span: Span; value: string; isEncoded: boolean }[] = [];
  for (let match = ARGUMENT.exec(text); match !== null; match = ARGUMENT.exec(text)) {
    const plain = match.indices?.groups?.plain;
    const place = plain ?? match.indices?.groups?.hex;
    if (place === undefined) continue;
    const span = { start: place[0], end: place[1] };
    const value = text.slice(span.start, span.end);
    found.push({
      span,
      value: plain === undefined ? decoded(value) : value,
      isEncoded: plain === undefined,
    });
  }
  const safe = inside(found.map(({ value }) => value).join('\0'))?.split('\0');
  if (safe === undefined) return [];
  const isKept = safe.length === found.length;
  return found.flatMap(({ span, value, isEncoded }, index) => {
    const after = isKept ? (safe[index] ?? '') : '';
    if (after === value) return [];
    return isEncoded ? [span] : [changed(span, value, after)];
  });
}

/** The part of an argument that was changed. */
function changed({ start, end }: Span, before: string, after: string): Span {
  let first = 0;
  while (first < before.length && before[first] === after[first]) first++;
  let last = 0;
  while (last < before.length - first && before.at(-1 - last) === after.at(-1 - last)) last++;
  return { start: start + first, end: end - last };
}

const decoded = (hex: string) => Buffer.from(hex, 'hex').toString('latin1');
