import type { Finding } from './finding.ts';
import { framedRun, frameOf, isRest, LONG, longRun } from './key-runs.ts';
import type { Marks } from './marks.ts';
import { COLOUR } from './separators.ts';

/** A key of 16384 bits has about 200 lines; of more than this nothing belongs to a key. */
const MAX_LINES = 400;
const MAX_BYTES = 1 << 16;
/** Nothing stands further from its line's beginning in a column of lines. */
const MAX_COLUMN = 4096;
/** Lines of others between those of a key whose end is missing. */
const MAX_GAP = 16;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** What of a key follows its first marker in the same line: wrapped in an escaped or an encoded way. */
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
  let at = 0;
  for (let lines = 0; lines < MAX_LINES && start + at <= enough; lines++) {
    const newline = extent.indexOf(NEWLINE, at);
    if (newline === -1) return start + extent.length;
    at = newline + 1;
  }
  return start + at;
}

/** The markers of a key, from the beginning of the first to the end of the last. */
export interface Extent {
  readonly start: number;
  /** The end of the first marker. */
  readonly bodyStart: number;
  /** The end of the key, or that of what is looked at if its own is missing. */
  readonly end: number;
  readonly isEnded: boolean;
}

/**
 * A finding for each line of a key: what of the first and last one belongs to it, and of those
 * between what looks like it, whatever stands before and after. All have the mark of the whole,
 * however it is written.
 */
export function keyParts(bytes: Buffer, extent: Extent, marks: Marks): Finding[] {
  const parts = extent.isEnded ? endedParts(bytes, extent) : unendedParts(bytes, extent);
  return marked(bytes, parts, marks);
}

export function marked(bytes: Buffer, parts: readonly Line[], marks: Marks): Finding[] {
  if (parts.length === 0) return [];
  const body = parts.map((part) => bytes.toString('latin1', part.start, part.end)).join('');
  const by = marks.of(bareKey(body));
  return parts.map((part) => ({ ...part, by }));
}

function endedParts(bytes: Buffer, { start, bodyStart, end }: Extent): Line[] {
  const first = lineAt(bytes, start, end);
  if (end <= first.end) return [{ start, end }];
  const parts: Line[] = [firstPart(bytes, start, bodyStart, first)];
  let frame = frameOf(textOf(bytes, first), start - first.start, bodyStart - first.start);
  for (const line of linesOf(bytes, first.end + 1, end)) {
    // All that is left of the line with the end.
    const last = line.end >= end ? lastPart(bytes, line.start, end) : undefined;
    if (last !== undefined) parts.push(last);
    if (last !== undefined) break;
    const text = textOf(bytes, line);
    const long = longRun(text);
    if (long !== undefined) frame = frameOf(text, long.start, long.end);
    const run = long ?? framedRun(text, frame);
    if (run !== undefined) parts.push({ start: line.start + run.start, end: line.start + run.end });
  }
  return parts;
}

/** Only lines that are as long as the first, up to one that is shorter. */
function unendedParts(bytes: Buffer, { start, bodyStart, end }: Extent): Line[] {
  const first = lineAt(bytes, start, end);
  const parts: Line[] = [];
  // The marker is no secret, and can be the beginning of a key of which the rest is in other texts.
  const own = firstPart(bytes, start, bodyStart, first);
  if (own.end > bodyStart) parts.push({ start: bodyStart, end: own.end });
  if (end <= first.end) return parts;
  let frame = frameOf(textOf(bytes, first), start - first.start, bodyStart - first.start);
  let width: number | undefined;
  let gap = 0;
  for (const line of linesOf(bytes, first.end + 1, end)) {
    const text = textOf(bytes, line);
    const isPart = line.end < bytes.length && !isLineEnd(bytes[line.end]);
    if (isPart || text.includes('-----BEGIN') || text.includes('-----END') || gap > MAX_GAP) break;
    const long = longRun(text);
    if (long !== undefined && width === undefined && gap === 0) {
      frame = frameOf(text, long.start, long.end);
    }
    const run = framedRun(text, frame);
    const length = run === undefined ? 0 : run.end - run.start;
    const isWide = length >= LONG && length <= (width ?? length);
    if (
      run === undefined ||
      !(isWide || (width !== undefined && isRest(text.slice(run.start, run.end))))
    ) {
      gap += 1;
      continue;
    }
    parts.push({ start: line.start + run.start, end: line.start + run.end });
    gap = 0;
    width ??= length;
    if (length < width) break;
  }
  return parts;
}

function firstPart(bytes: Buffer, start: number, bodyStart: number, line: Line): Line {
  AFTER_MARKER.lastIndex = bodyStart - start;
  const text = textOf(bytes, { start, end: line.end });
  const end = AFTER_MARKER.test(text) ? start + AFTER_MARKER.lastIndex : bodyStart;
  // The escaped newline of a record is none of the key.
  return { start, end: end === line.end ? end : end - trailingEscapes(bytes, bodyStart, end) };
}

function trailingEscapes(bytes: Buffer, from: number, end: number): number {
  return (
    /(?:\\{1,15}[nr]|%0[AD]|#01[25])*$/.exec(bytes.toString('latin1', from, end))?.[0].length ?? 0
  );
}

function lastPart(bytes: Buffer, lineStart: number, end: number): Line {
  return { start: backOverKey(bytes, lineStart, end), end };
}

/** The lines of a key whose beginning is missing: what stands before its end, and the lines above that look alike. */
export function tailParts(
  bytes: Buffer,
  { start, end }: { start: number; end: number },
  floor: number,
): Line[] {
  const line = lineAt(bytes, start, end + MAX_MARKER);
  const own = backOverKey(bytes, Math.max(line.start, floor), end);
  // The marker stays, as that of a beginning does.
  if (own < start) return [{ start: own, end: start }];
  const parts: Line[] = [];
  const frame = frameOf(textOf(bytes, line), start - line.start, end - line.start);
  let width = 0;
  for (let below = line.start; below > floor && parts.length < MAX_LINES; ) {
    const above = lineAt(bytes, below - 1);
    if (above.start < floor || above.end - above.start > 2 * MAX_COLUMN) break;
    const text = textOf(bytes, above);
    const run = framedRun(text, frame);
    const length = run === undefined ? 0 : run.end - run.start;
    // Only the last line of a key is short.
    if (run === undefined || (parts.length > 0 && (length < LONG || length < width))) break;
    parts.unshift({ start: above.start + run.start, end: above.start + run.end });
    width = length;
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
  const marker = text.lastIndexOf('-----END');
  let at = marker === -1 ? text.length : marker;
  while (at > 0 && KEY_CHARACTER.test(text[at - 1] ?? '')) at--;
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
function lineAt(bytes: Buffer, at: number, limit = at + MAX_BYTES): Line {
  const floor = Math.max(0, at - MAX_COLUMN);
  const start = floor + bytes.subarray(floor, at).lastIndexOf(NEWLINE) + 1;
  const newline = bytes.subarray(at, limit).indexOf(NEWLINE);
  const end = newline === -1 ? Math.min(bytes.length, limit) : at + newline;
  return { start, end: end > start && bytes[end - 1] === RETURN ? end - 1 : end };
}

const isLineEnd = (byte: number | undefined) => byte === NEWLINE || byte === RETURN;

function* linesOf(bytes: Buffer, from: number, end: number): Generator<Line> {
  for (let at = bytes[from - 1] === RETURN ? from + 1 : from; at < end; ) {
    const newline = bytes.subarray(at, end).indexOf(NEWLINE);
    const lineEnd = newline === -1 ? end : at + newline;
    const isReturn = lineEnd < end && bytes[lineEnd - 1] === RETURN;
    yield { start: at, end: isReturn ? lineEnd - 1 : lineEnd };
    at = lineEnd + 1;
  }
}
