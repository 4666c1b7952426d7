import type { SecretFinding } from './finding.ts';
import { framedRun, frameOf, isRest, LONG, longRun } from './key-runs.ts';
import type { Marks } from './marks.ts';
import { COLOUR } from './unwrap.ts';

/** A key of 16384 bits has about 200 lines; of more than this nothing belongs to a key. */
const MAX_LINES = 400;
const MAX_BYTES = 1 << 16;
/** Nothing stands further from its line's beginning in a column of lines. */
const MAX_COLUMN = 4096;
/** Lines of others between those of a key whose end is missing. */
const MAX_GAP = 16;
/** What is compared with the escapes at a record's end: a search in all that precedes it could take long. */
const MAX_ESCAPES = 32;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** The part of a key that follows its first marker in the same line, with escaped or encoded line breaks. */
const AFTER_MARKER =
  /(?:(?<=[nAD2])(?:Proc-Type|DEK-Info|Version|Comment):[^\\%#"]{1,80}|[A-Za-z0-9+/=]|\\{1,15}[nr]|\\(?=\/)|%(?:0[AD]|2[BF]|3D)|#01[25]| (?=[A-Za-z0-9+/]{40}))+/y;

interface Line {
  readonly start: number;
  /** Without the newline. */
  readonly end: number;
}

/** How far a key that begins here can go; not more exact than needed to know whether that is beyond `enough`. */
export function extentEnd(bytes: Buffer, start: number, enough = Number.POSITIVE_INFINITY): number {
  const extent = bytes.subarray(start, start + MAX_BYTES);
  let newline = -1;
  for (let lines = 0; lines < MAX_LINES && start + newline < enough; lines++) {
    newline = extent.indexOf(NEWLINE, newline + 1);
    if (newline === -1) return start + extent.length;
  }
  return start + newline + 1;
}

/** The markers of a key, from the beginning of the first to the end of the last. */
export interface KeyExtent {
  readonly start: number;
  /** The end of the first marker. */
  readonly bodyStart: number;
  /** The end of the key; if it is missing, the end of what is examined. */
  readonly end: number;
  readonly isEnded: boolean;
}

/**
 * A finding for each line of a key: in the first and last line the part that belongs to the key, in the
 * lines between what looks like a key, whatever stands before and after it. All have the mark of the
 * whole key, however it is written.
 */
export function keyParts(bytes: Buffer, extent: KeyExtent, marks: Marks): SecretFinding[] {
  const parts = extent.isEnded ? endedParts(bytes, extent) : unendedParts(bytes, extent);
  return marked(bytes, parts, marks);
}

export function marked(bytes: Buffer, parts: readonly Line[], marks: Marks): SecretFinding[] {
  if (parts.length === 0) return [];
  const body = parts.map((part) => bytes.toString('latin1', part.start, part.end)).join('');
  const by = marks.of(bareKey(body));
  return parts.map((part) => ({ ...part, by }));
}

function endedParts(bytes: Buffer, { start, bodyStart, end }: KeyExtent): Line[] {
  const first = lineAt(bytes, start, end);
  if (end <= first.end) return [{ start, end }];
  const parts: Line[] = [firstPart(bytes, start, bodyStart, first)];
  let frame = frameOf(textOf(bytes, first), start - first.start, bodyStart - first.start);
  const lastStart = first.end + bytes.subarray(first.end, end).lastIndexOf(NEWLINE) + 1;
  for (const line of linesAfter(bytes, first, lastStart)) {
    const text = textOf(bytes, line);
    const long = longRun(text);
    if (long !== undefined) frame = frameOf(text, long.start, long.end);
    const run = long ?? framedRun(text, frame);
    if (run !== undefined) parts.push({ start: line.start + run.start, end: line.start + run.end });
  }
  return [...parts, { start: backOverKey(bytes, lastStart, end), end }];
}

/** Only lines that are as long as the first, up to one that is shorter. */
function unendedParts(bytes: Buffer, { start, bodyStart, end }: KeyExtent): Line[] {
  const first = lineAt(bytes, start, end);
  const parts: Line[] = [];
  // The marker is not a secret, and the rest of its key can be in other texts.
  const own = firstPart(bytes, start, bodyStart, first);
  if (own.end > bodyStart) parts.push({ start: bodyStart, end: own.end });
  if (end <= first.end) return parts;
  let frame = frameOf(textOf(bytes, first), start - first.start, bodyStart - first.start);
  let width: number | undefined;
  let gap = 0;
  for (const line of linesAfter(bytes, first, end)) {
    const text = textOf(bytes, line);
    const isPart = !isLineEnd(bytes[line.end]);
    if (isPart || /-----(?:BEGIN|END)/.test(text) || gap > MAX_GAP) break;
    const long = longRun(text);
    if (long !== undefined && width === undefined && gap === 0) {
      frame = frameOf(text, long.start, long.end);
    }
    const run = framedRun(text, frame);
    if (run === undefined || !isOfKey(run.text, width)) {
      gap += 1;
      continue;
    }
    parts.push({ start: line.start + run.start, end: line.start + run.end });
    gap = 0;
    width ??= run.text.length;
    if (run.text.length < width) break;
  }
  return parts;
}

/** Whether a key that ends nowhere has this line. `width`: of its first line, if that is known. */
function isOfKey(run: string, width: number | undefined): boolean {
  if (width === undefined) return run.length >= LONG;
  return run.length >= LONG ? run.length <= width : isRest(run);
}

function firstPart(bytes: Buffer, start: number, bodyStart: number, line: Line): Line {
  AFTER_MARKER.lastIndex = bodyStart - start;
  const text = textOf(bytes, { start, end: line.end });
  const end = AFTER_MARKER.test(text) ? start + AFTER_MARKER.lastIndex : bodyStart;
  // The escaped newline of a record does not belong to the key.
  return { start, end: end === line.end ? end : end - trailingEscapes(bytes, bodyStart, end) };
}

function trailingEscapes(bytes: Buffer, from: number, end: number): number {
  const text = bytes.toString('latin1', Math.max(from, end - MAX_ESCAPES), end);
  return text.length - text.replace(/(?:\\{1,15}[nr]|%0[AD]|#01[25])+$/, '').length;
}

/** The lines of a key whose beginning is missing: what stands before its end, and the lines above that look alike. */
export function tailParts(
  bytes: Buffer,
  { start, end }: { start: number; end: number },
  floor: number,
): Line[] {
  const line = lineAt(bytes, start, end + MAX_MARKER);
  const own = backOverKey(bytes, line.start, end);
  // The marker stays, like the one at the beginning of a key.
  if (own < start) return [{ start: own, end: start }];
  const parts: Line[] = [];
  const frame = frameOf(textOf(bytes, line), start - line.start, end - line.start);
  let width = LONG;
  for (let below = line.start; parts.length < MAX_LINES; ) {
    const above = lineBefore(bytes, below);
    const run = above.start < floor ? undefined : framedRun(textOf(bytes, above), frame);
    // Only the last line of a key is short.
    if (run === undefined || (parts.length > 0 && run.text.length < width)) break;
    parts.unshift({ start: above.start + run.start, end: above.start + run.end });
    width = Math.max(width, run.text.length);
    below = above.start;
  }
  return parts;
}

/** The base64 alone: equal for a key in one line and in many. */
function bareKey(text: string): string {
  return text
    .replace(/-----[A-Z0-9 %+]{1,96}-----/g, '')
    .replace(/%0[AD]|%2B|%2F|%3D|\\+[nrt]|#012/g, (code) => BARE[code] ?? '')
    .replace(/[^A-Za-z0-9+/]/g, '');
}

const BARE: Readonly<Record<string, string>> = { '%2B': '+', '%2F': '/' };

/** Longest part of a marker before or after the place where its trigger begins. */
export const MAX_MARKER = 96;

/** Back from `end` over base64, its padding, escaped newlines, and the key's last marker. */
function backOverKey(bytes: Buffer, floor: number, end: number): number {
  const text = textOf(bytes, { start: floor, end });
  let at = text.lastIndexOf('-----END');
  while (KEY_CHARACTER.test(text.charAt(at - 1))) at--;
  return floor + at;
}

const KEY_CHARACTER = /[A-Za-z0-9+/=\\%]/;

/** Without colours, whose last characters would be base64's too. */
function textOf(bytes: Buffer, { start, end }: Line): string {
  const text = bytes.toString('latin1', start, end);
  return text.includes('[') ? text.replace(COLOURS, (colour) => ' '.repeat(colour.length)) : text;
}

const COLOURS = new RegExp(COLOUR, 'g');

/** The line around an offset, as far as a key's column can be. */
function lineAt(bytes: Buffer, at: number, limit: number): Line {
  const floor = Math.max(0, at - MAX_COLUMN);
  const start = floor + bytes.subarray(floor, at).lastIndexOf(NEWLINE) + 1;
  const newline = bytes.subarray(at, limit).indexOf(NEWLINE);
  return { start, end: withoutReturn(bytes, newline === -1 ? limit : at + newline) };
}

/** The line that ends before the one that begins at `below`; an empty one before the first. */
function lineBefore(bytes: Buffer, below: number): Line {
  const newline = Math.max(0, below - 1);
  const start = bytes.subarray(0, newline).lastIndexOf(NEWLINE) + 1;
  return { start, end: withoutReturn(bytes, newline) };
}

/** The lines after another one, up to `end`. */
function* linesAfter(bytes: Buffer, { end: after }: Line, end: number): Generator<Line> {
  const all = bytes.subarray(0, end);
  for (let newline = all.indexOf(NEWLINE, after); newline !== -1; ) {
    const start = newline + 1;
    newline = all.indexOf(NEWLINE, start);
    yield { start, end: withoutReturn(bytes, newline === -1 ? end : newline) };
  }
}

const withoutReturn = (bytes: Buffer, end: number) => (bytes[end - 1] === RETURN ? end - 1 : end);

const isLineEnd = (byte: number | undefined) =>
  byte === undefined || byte === NEWLINE || byte === RETURN;
