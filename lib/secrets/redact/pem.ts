import type { Finding } from './finding.ts';
import type { Marks } from './marks.ts';

/** By which a line is told that a private key begins or ends in it, also in a URL or a form. */
export const PEM_TRIGGERS = [
  'private key-----',
  'private key block-----',
  'private%20key',
  'private+key-----',
];

const MARKER =
  /-----(?<kind>BEGIN|END)(?: |%20|\+)(?:[A-Z0-9]{1,16}(?: |%20|\+)){0,3}PRIVATE(?: |%20|\+)KEY(?:(?: |%20|\+)BLOCK)?-----/y;
/** Longest part of a marker before or after the place where its trigger begins. */
const MAX_MARKER = 96;
/** A key of 16384 bits has about 200 lines; of more than this nothing belongs to a key. */
const MAX_LINES = 400;
const MAX_BYTES = 1 << 16;

/** Of a body's line; only the last one is shorter, which is told by its column. */
const LONG = 40;
/** Nothing stands further from its line's beginning in a column of lines. */
const MAX_COLUMN = 4096;

const NEWLINE = 0x0a;

interface Marker {
  readonly isBegin: boolean;
  readonly start: number;
  readonly end: number;
}

interface Line {
  readonly start: number;
  /** Without the newline. */
  readonly end: number;
}

export interface PemKeys {
  readonly findings: readonly Finding[];
  /** Where the line begins with a key that does not end in these bytes, if it can still end. */
  readonly openFrom: number | undefined;
  /** The end of the last key without an end: the stream must not be cut before it, within the key. */
  readonly unendedTo: number;
}

/**
 * Private keys in PEM: in one line, escaped or percent-encoded, or over many, each of which may
 * have a prefix of its own, as in a journal. Of a key whose beginning was cut off, the lines
 * before its end go, if they stand in its column. `offsets`: where triggers stand.
 */
export function pemKeys(
  bytes: Buffer,
  offsets: readonly number[],
  marks: Marks,
  isLast: boolean,
): PemKeys {
  const findings: Finding[] = [];
  const markers = offsets.flatMap((offset) => markerAt(bytes, offset) ?? []);
  let floor = 0;
  let unendedTo = 0;
  for (const [index, marker] of markers.entries()) {
    if (marker.start < floor) continue;
    if (!marker.isBegin) {
      findings.push(...keyParts(bytes, tailStart(bytes, marker, floor), marker.end, marks));
      floor = marker.end;
      continue;
    }
    const limit = extentEnd(bytes, marker.start);
    const next = markers[index + 1];
    if (next === undefined || next.start >= limit) {
      if (limit === bytes.length && !isLast) {
        return { findings, openFrom: bytes.lastIndexOf(NEWLINE, marker.start) + 1, unendedTo };
      }
      findings.push(...keyParts(bytes, marker.start, limit, marks));
      floor = marker.end;
      unendedTo = limit;
      continue;
    }
    // Another beginning ends it as well.
    const end = next.isBegin ? next.start : next.end;
    findings.push(...keyParts(bytes, marker.start, end, marks));
    floor = end;
  }
  return { findings, openFrom: undefined, unendedTo };
}

function markerAt(bytes: Buffer, trigger: number): Marker | undefined {
  const from = Math.max(0, trigger - MAX_MARKER);
  const text = bytes.toString('latin1', from, trigger + MAX_MARKER);
  const dashes = Math.max(
    text.lastIndexOf('-----BEGIN', trigger - from),
    text.lastIndexOf('-----END', trigger - from),
  );
  MARKER.lastIndex = Math.max(0, dashes);
  const match = MARKER.exec(text);
  if (match === null) return undefined;
  const start = from + match.index;
  return { isBegin: match.groups?.kind === 'BEGIN', start, end: start + match[0].length };
}

/** How far a key that begins here can go. */
function extentEnd(bytes: Buffer, start: number): number {
  const extent = bytes.subarray(start, start + MAX_BYTES);
  let at = 0;
  for (let lines = 0; lines < MAX_LINES; lines++) {
    const newline = extent.indexOf(NEWLINE, at);
    if (newline === -1) return start + extent.length;
    at = newline + 1;
  }
  return start + at;
}

/**
 * A finding for each line of a key: what of the first and last one belongs to it, and the
 * ends of those between that look like it. All have the mark of the whole, however it is written.
 */
function keyParts(bytes: Buffer, start: number, end: number, marks: Marks): Finding[] {
  const parts: { start: number; end: number }[] = [];
  let column = start - lineStart(bytes, start);
  for (const line of linesOf(bytes, start, end)) {
    const from = line.start <= start ? start : bodyStart(bytes, line, column, end);
    // Something else may stand before the key's beginning, as a name does.
    if (line.end - from >= LONG) column = from - line.start;
    if (from < line.end) parts.push({ start: from, end: line.end });
  }
  const body = parts.map((part) => bytes.toString('latin1', part.start, part.end)).join('');
  const by = marks.of(bareKey(body));
  return parts.map((part) => ({ ...part, by }));
}

/** The base64 alone: equal for a key in one line and in many. */
function bareKey(text: string): string {
  return text
    .replace(/-----[A-Z0-9 %+]{1,96}-----/g, '')
    .replace(/%0[AD]|%2B|%2F|%3D|\\+[nrt]|#012/g, (code) => BARE[code] ?? '')
    .replace(/[^A-Za-z0-9+/]/g, '');
}

const BARE: Readonly<Record<string, string>> = { '%2B': '+', '%2F': '/' };

/** Where on a line between a key's beginning and its end the key's part begins. */
function bodyStart(bytes: Buffer, line: Line, column: number, end: number): number {
  const back = backOverKey(bytes, line.start, line.end);
  // The line with the end: all that is left of it.
  if (line.end === end && isMarkerBefore(bytes, back, end)) return back;
  const isLong = line.end - back >= LONG;
  if (isLong || back === line.start + column) return back;
  return line.end;
}

const isMarkerBefore = (bytes: Buffer, from: number, end: number) =>
  bytes.toString('latin1', from, end).includes('-----END');

/** Back from `end` over base64, its padding, escaped newlines, and the key's last marker. */
function backOverKey(bytes: Buffer, floor: number, end: number): number {
  let at = end;
  const text = bytes.toString('latin1', Math.max(floor, at - MAX_MARKER), at);
  const marker = text.lastIndexOf('-----END');
  if (marker !== -1) at -= text.length - marker;
  while (at > floor && isKeyByte(bytes[at - 1])) at--;
  return at;
}

const isKeyByte = (byte: number | undefined) => byte !== undefined && KEY_BYTES.includes(byte);

const KEY_BYTES = Buffer.from(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\\%',
);

/** Where a key of which only the end is left begins: what stands before the end, and the lines above in its column. */
function tailStart(bytes: Buffer, { start, end }: Marker, floor: number): number {
  const begin = lineStart(bytes, start);
  const own = backOverKey(bytes, Math.max(begin, floor), end);
  if (own < start) return own;
  const column = start - begin;
  let first = own;
  let below = begin;
  for (let lines = 0; lines < MAX_LINES && below > floor; lines++) {
    const above = lineStart(bytes, below - 1);
    const from = above + column;
    const lineEnd = bytes[below - 2] === 0x0d ? below - 2 : below - 1;
    if (above < floor || from >= lineEnd) break;
    // Only the last line of a key is short.
    if (backOverKey(bytes, above, lineEnd) !== from || (lines > 0 && lineEnd - from < LONG)) break;
    first = from;
    below = above;
  }
  return first;
}

function* linesOf(bytes: Buffer, start: number, end: number): Generator<Line> {
  for (let at = lineStart(bytes, start); at < end; ) {
    const newline = bytes.subarray(at, end).indexOf(NEWLINE);
    const lineEnd = newline === -1 ? end : at + newline;
    const isReturn = bytes[lineEnd - 1] === 0x0d;
    yield { start: at, end: isReturn ? lineEnd - 1 : lineEnd };
    at = lineEnd + 1;
  }
}

function lineStart(bytes: Buffer, at: number): number {
  const floor = Math.max(0, at - MAX_COLUMN);
  return floor + bytes.subarray(floor, at).lastIndexOf(NEWLINE) + 1;
}
