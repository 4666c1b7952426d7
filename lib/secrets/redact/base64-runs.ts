import { anyBase64, hexadecimal, jsonGapEnd, nextRun, runEnd } from '../bytes/base64-text.ts';

/** Shorter runs hold no document and no key that other rules do not know. Without padding. */
const MIN_RUN = 24;
/** A column of lines that is longer is looked at in pieces of this many bytes. */
export const MAX_GROUP_BYTES = 1 << 18;

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const PADDING = 0x3d;
const BACKSLASH = 0x5c;

export const isBase64 = (byte: number | undefined): boolean =>
  byte !== undefined && anyBase64[byte] === 1;

export interface Run {
  readonly start: number;
  /** Padding included. */
  readonly end: number;
}

/** One text in base64, in one run of characters or wrapped: over escaped newlines, or over lines of one column. */
export interface Group {
  readonly runs: readonly Run[];
  /** Where its first line begins, if it reaches the end of the bytes and the next ones may go on with it. */
  readonly openFrom: number | undefined;
}

/** All texts in base64 that begin with a run of at least MIN_RUN characters; paths are such, too, but no digests. */
export function base64Groups(bytes: Buffer): Group[] {
  const groups: Group[] = [];
  for (let at = nextRun(bytes, 0, MIN_RUN, anyBase64); at !== -1; ) {
    const run = runAt(bytes, at);
    let end = run.end;
    if (runEnd(bytes, at, hexadecimal) < run.end) {
      const group = groupFrom(bytes, withoutEscape(bytes, run));
      groups.push(group);
      end = group.runs.at(-1)?.end ?? end;
    }
    at = nextRun(bytes, end, MIN_RUN, anyBase64);
  }
  return groups;
}

/** From its first character. */
function runAt(bytes: Buffer, start: number): Run {
  let end = runEnd(bytes, start, anyBase64);
  for (let padding = 0; padding < 2 && bytes[end] === PADDING; padding++) end++;
  return { start, end };
}

/** The letter of an escaped newline is none of base64. */
function withoutEscape(bytes: Buffer, { start, end }: Run): Run {
  const isEscape =
    bytes[start - 1] === BACKSLASH && 'nrt'.includes(String.fromCharCode(bytes[start] ?? 0));
  return { start: isEscape ? start + 1 : start, end };
}

function groupFrom(bytes: Buffer, first: Run): Group {
  const runs = [first];
  let last = first;
  // The lines before a run are looked for only where a line ends with it.
  let column: number | undefined;
  for (;;) {
    const escaped = jsonGapEnd(bytes, last.end);
    if (isLineEnd(bytes[last.end])) {
      column ??= first.start - lineStart(bytes, first.start);
    }
    const next =
      escaped === undefined ? onNextLine(bytes, last.end, column) : runAt(bytes, escaped);
    if (next === undefined || next.end === next.start) break;
    if (next.end - first.start > MAX_GROUP_BYTES) return { runs, openFrom: undefined };
    if (escaped !== undefined) column = -1;
    runs.push(next);
    last = next;
  }
  const left = bytes.length - last.end;
  const isOpen =
    left === 0 ||
    (left === 1 && isLineEnd(bytes[last.end])) ||
    (left === 2 && bytes[last.end] === RETURN && bytes[last.end + 1] === NEWLINE);
  return { runs, openFrom: isOpen ? lineStart(bytes, first.start) : undefined };
}

const isLineEnd = (byte: number | undefined) => byte === NEWLINE || byte === RETURN;

function lineStart(bytes: Buffer, at: number): number {
  return at === 0 ? 0 : bytes.lastIndexOf(NEWLINE, at - 1) + 1;
}

/** A line that is base64 from the same column to its end; what stands before it is a log's or an indentation. */
function onNextLine(bytes: Buffer, end: number, column = -1): Run | undefined {
  if (column < 0) return undefined;
  const newline = bytes[end] === RETURN ? end + 1 : end;
  if (bytes[newline] !== NEWLINE) return undefined;
  const start = newline + 1 + column;
  if (isBase64(bytes[start - 1]) || bytes.subarray(newline + 1, start).includes(NEWLINE)) {
    return undefined;
  }
  const run = runAt(bytes, start);
  return run.end >= bytes.length || isLineEnd(bytes[run.end]) ? run : undefined;
}
