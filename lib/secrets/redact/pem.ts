import type { Line } from './below.ts';
import type { RuleFindings, Secret, SecretRule, Span } from './rule.ts';

/**
 * Private keys in PEM: in one line, escaped, or over many, each of which may have a prefix of its own, as in a journal,
 * or be a value in a record. If the beginning of a key was cut off, the lines before its end are removed if they look
 * like lines of it. A marker is removed only together with its counterpart: what belongs between them can be in other
 * texts.
 */
export const PEM: SecretRule = {
  triggers: [
    'private key-----',
    'private key block-----',
    'private+key-----',
    'static key v1-----',
  ],
  inText: keyAt,
};

/** A key of 16384 bits has about 200 lines; of more than this nothing belongs to a key. */
const MAX_LINES = 400;
const MAX_LENGTH = 1 << 16;
/** What a marker has before its trigger at most. */
const MAX_MARKER = 96;
const MARKER =
  /-----(?<kind>BEGIN|END)[ +](?:[A-Za-z0-9]{1,16}[ +]){0,3}(?:PRIVATE[ +]KEY(?:[ +]BLOCK)?|Static[ +]key[ +]V1)-----/g;
/** The part of a key that follows its first marker in the same line. */
const AFTER_MARKER =
  /(?:(?<=\ue600)(?:Proc-Type|DEK-Info|Version|Comment):[^\n\ue600"]{1,80}|[A-Za-z0-9+/=\ue600]|[ ](?=[A-Za-z0-9+/]{40}))*/y;

/** The least length of a line of a key's body. Only the last line is shorter; what stands around it identifies it. */
const LONG = 40;
/** Of what stands around a line of a key in a record, with numbers and without. */
const AROUND = { read: 16, compared: 6 } as const;

function keyAt(text: string, at: number, length: number): RuleFindings {
  const from = Math.max(0, at - MAX_MARKER);
  const before = text.slice(from, at);
  const dashes = Math.max(before.lastIndexOf('-----BEGIN'), before.lastIndexOf('-----END'));
  const marker = dashes === -1 ? undefined : markerIn(text, from + dashes, at + length);
  if (marker === undefined) return { next: at + length, secrets: [] };
  return marker.isBegin ? afterBegin(text, marker) : beforeEnd(text, marker);
}

/** The first marker in a part of a text. */
function markerIn(text: string, from: number, to: number) {
  MARKER.lastIndex = 0;
  const found = MARKER.exec(text.slice(from, to));
  if (found === null) return undefined;
  const start = from + found.index;
  return { isBegin: found.groups?.kind === 'BEGIN', start, end: start + found[0].length };
}

function afterBegin(text: string, begin: Span): RuleFindings {
  const limit = Math.min(text.length, begin.end + MAX_LENGTH);
  const next = markerIn(text, begin.end, limit);
  const lines = linesOf(text, begin.start, next?.end ?? limit);
  const first = { start: begin.end, end: endAfter(text, begin.end) };
  // Another beginning ends it as well.
  if (next?.isBegin !== false || lines.at(-1)?.end !== next.end) {
    const body = bodyOf(text, begin, lines.slice(1), { isEnded: false });
    const secrets = marked(text, first.end > first.start ? [first, ...body] : body);
    const isOpen = next === undefined && limit === text.length && lines.length < MAX_LINES;
    return { next: begin.end, secrets, isOpen };
  }
  const body = bodyOf(text, begin, lines.slice(1, -1), { isEnded: true });
  const last = { start: startBefore(text, next.start), end: next.end };
  const { start } = begin;
  const parts = lines.length > 1 ? [{ ...first, start }, ...body, last] : [{ ...last, start }];
  return { next: next.end, secrets: marked(text, parts) };
}

/**
 * What belongs to the key in the lines after that of its first marker: all that looks like it; if its end is missing,
 * only lines that are as long as the first, up to one that is shorter or another program's.
 */
function bodyOf(
  text: string,
  begin: Span,
  lines: readonly Line[],
  { isEnded }: { isEnded: boolean },
): Line[] {
  const parts: Line[] = [];
  if (lines.length === 0) return parts;
  let frame = frameAt(text, begin);
  for (const line of lines) {
    const long = isEnded || parts.length === 0 ? longRun(line) : undefined;
    if (long !== undefined) frame = frameAt(text, long);
    const run = long ?? framedRun(text, line, frame);
    const width = parts[0]?.text.length;
    const isOfIt = run !== undefined && (isEnded || isOfKey(run.text, width));
    if (isOfIt) parts.push(run);
    if (!isEnded && (!isOfIt || run.text.length < (width ?? 0))) break;
  }
  return parts;
}

/** The lines of a key whose beginning is missing: what stands before its end, and the lines above that look alike. */
function beforeEnd(text: string, end: Span): RuleFindings {
  const own = startBefore(text, end.start);
  const parts: Span[] = own < end.start ? [{ start: own, end: end.start }] : [];
  const frame = frameAt(text, end);
  let width = LONG;
  let below = own < end.start ? 0 : lineStart(text, end.start);
  while (below > 0 && parts.length < MAX_LINES) {
    const start = lineStart(text, below - 1);
    const run = framedRun(text, lineAt(text, start, below - 1), frame);
    // Only the last line of a key is short.
    if (run === undefined || (parts.length > 0 && run.text.length < width)) break;
    parts.unshift(run);
    width = Math.max(width, run.text.length);
    below = start;
  }
  return { next: end.end, secrets: marked(text, parts) };
}

/** All with the mark of the whole key, however it is written: of its base64 alone. */
function marked(text: string, parts: readonly Span[]): Secret[] {
  const body = parts.map(({ start, end }) => text.slice(start, end)).join('\n');
  const means = bareBase64(body.replace(MARKER, '').replace(HEADERS, ''));
  return parts.map(({ start, end }) => ({ start, end, means, certainty: 'key' }));
}

const HEADERS = /(?:Proc-Type|DEK-Info|Version|Comment):[^\n\ue600]*/g;

export const bareBase64 = (text: string): string => text.replace(/[^A-Za-z0-9+/]/g, '');

/** Where the part of a key ends that begins directly after its first marker. */
function endAfter(text: string, at: number): number {
  AFTER_MARKER.lastIndex = at;
  AFTER_MARKER.test(text);
  const end = AFTER_MARKER.lastIndex;
  // The escaped newline of a record does not belong to the key.
  return end - (/\ue600*$/.exec(text.slice(Math.max(at, end - MAX_MARKER), end))?.[0].length ?? 0);
}

/** Where the part of a key begins that stands directly before its last marker. */
function startBefore(text: string, at: number): number {
  let start = at;
  while (/[A-Za-z0-9+/=\ue600]/.test(text.charAt(start - 1))) start--;
  return start;
}

const lineStart = (text: string, at: number) => (at > 0 ? text.lastIndexOf('\n', at - 1) + 1 : 0);

const lineAt = (text: string, start: number, end: number): Line => ({
  start,
  end,
  // Nothing stands further from its line's beginning in a column of lines.
  text: text.slice(start, Math.min(end, start + MAX_LENGTH)),
});

/** The lines up to an offset. */
function linesOf(text: string, from: number, to: number): Line[] {
  const lines: Line[] = [];
  for (let start = from; start < to && lines.length < MAX_LINES; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? to : Math.min(newline, to);
    lines.push(lineAt(text, start, end));
    start = end + 1;
  }
  return lines;
}

/** Numbers can differ: times, lines of a source. */
const withoutNumbers = (text: string) => text.replace(/\d+/g, '0');

/** What stands around a line of a key in the line of a log: the same for all lines of the key. */
function frameAt(text: string, { start, end }: Span, line = lineStart(text, start)) {
  const before = text.slice(Math.max(line, start - AROUND.read), start);
  const after = text.slice(end, end + AROUND.read).replace(/\r?\n[\s\S]*|\r$/, '');
  return {
    column: start - line,
    before: withoutNumbers(before).slice(-AROUND.compared),
    after: withoutNumbers(after).slice(0, AROUND.compared),
  };
}

const runsIn = ({ start, text }: Line): Line[] =>
  [...text.matchAll(/[A-Za-z0-9+/]+={0,2}/g)].map(({ index, 0: run }) => ({
    start: start + index,
    end: start + index + run.length,
    text: run,
  }));

/** The longest run of base64 in a line, if it is as long as a line of a key: no digest, path or word. */
const longRun = (line: Line): Line | undefined =>
  runsIn(line)
    .filter(({ text }) => /^(?=.*[G-Zg-z])(?=.*[A-Z])(?=.*[a-z0-9])[^=]{40}/.test(text))
    .sort((a, b) => b.text.length - a.text.length)[0];

/** A run that stands where those of the key do. */
const framedRun = (text: string, line: Line, frame: ReturnType<typeof frameAt>) =>
  runsIn(line).find((run) => {
    const { column, before, after } = frameAt(text, run, line.start);
    return after === frame.after && (column === frame.column || before === frame.before);
  });

/** Whether a key that ends nowhere has this line. `width`: of its first line, if that is known. */
function isOfKey(run: string, width: number | undefined): boolean {
  if (width === undefined) return run.length >= LONG;
  if (run.length >= LONG) return run.length <= width;
  // The last line, rather than a word.
  return run.length % 4 === 0 && !/^(?:[A-Z]?[a-z]+|\d+)$/.test(run);
}
