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
/** Lines of others between those of a key whose end is missing. */
const MAX_GAP = 16;
/** Of what stands around a line of a key in a record, with numbers and without. */
const AROUND = { read: 16, compared: 6 } as const;

interface Line extends Span {
  readonly text: string;
}

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
  const last = lines.at(-1)?.end ?? limit;
  // Another beginning ends it as well.
  if (next?.isBegin === false && last === next.end) {
    return { next: last, secrets: marked(text, endedParts(text, begin, next, lines)) };
  }
  const secrets = marked(text, unendedParts(text, begin, lines));
  return {
    next: begin.end,
    secrets,
    isOpen: next === undefined && limit === text.length && lines.length < MAX_LINES,
  };
}

/** In the first and last line the part that belongs to the key, in those between all that looks like a key. */
function endedParts(text: string, begin: Span, end: Span, lines: readonly Line[]): Span[] {
  if (lines.length === 1) return [{ start: begin.start, end: end.end }];
  const parts = [{ start: begin.start, end: endAfter(text, begin.end) }];
  let frame = frameAt(text, begin);
  for (const line of lines.slice(1, -1)) {
    const long = longRun(line);
    if (long !== undefined) frame = frameAt(text, long);
    const run = long ?? framedRun(text, line, frame);
    if (run !== undefined) parts.push(run);
  }
  return [...parts, { start: startBefore(text, end.start), end: end.end }];
}

/** Only lines that are as long as the first, up to one that is shorter. */
function unendedParts(text: string, begin: Span, lines: readonly Line[]): Span[] {
  const own = { start: begin.end, end: endAfter(text, begin.end) };
  const parts = own.end > own.start ? [own] : [];
  let frame = frameAt(text, begin);
  let width: number | undefined;
  let gap = 0;
  for (const line of lines.slice(1)) {
    if (gap > MAX_GAP || /-----(?:BEGIN|END)/.test(line.text)) break;
    const long = width === undefined && gap === 0 ? longRun(line) : undefined;
    if (long !== undefined) frame = frameAt(text, long);
    const run = framedRun(text, line, frame);
    if (run === undefined || !isOfKey(run.text, width)) {
      gap += 1;
      continue;
    }
    parts.push(run);
    gap = 0;
    width ??= run.text.length;
    if (run.text.length < width) break;
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
    .filter(({ text }) => /^[^=]{40}/.test(text) && /[G-Zg-z]/.test(text))
    .filter(({ text }) => /[A-Z]/.test(text) && /[a-z0-9]/.test(text))
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
