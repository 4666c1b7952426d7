import { anyBase64, identifier, jsonGapEnd, nextRun, runEnd } from '../bytes/base64-text.ts';

/** Shorter runs hold no document and no key that other rules do not know. Without padding. */
const MIN_RUN = 24;
/** A column of lines that is longer is looked at in pieces of this many bytes. */
export const MAX_GROUP_BYTES = 1 << 18;

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const PADDING = 0x3d;
const BACKSLASH = 0x5c;
/** After a backslash. */
const ESCAPED = /^[nrt]$/;
/** What may stand between a run and the end of the bytes if the next bytes can continue the run. */
const OPEN_END = /^\r?\n?$/;

export const isBase64 = (byte: number | undefined): boolean =>
  byte !== undefined && anyBase64[byte] === 1;

export interface Base64Run {
  readonly start: number;
  /** Padding included. */
  readonly end: number;
}

/** One text in base64, in one run of characters or wrapped: over escaped newlines, or over lines of one column. */
export interface Group {
  readonly runs: readonly Base64Run[];
  /** Of the last run. */
  readonly end: number;
  /** Where its first line begins, if it reaches the end of the bytes and the next bytes may continue it. */
  readonly openFrom?: number;
}

/** All texts in base64 that begin with a run of at least MIN_RUN characters; that includes paths, but not digests or UUIDs. */
export function base64Groups(bytes: Buffer): Group[] {
  const groups: Group[] = [];
  for (let at = nextRun(bytes, 0, MIN_RUN, anyBase64); at !== -1; ) {
    const run = runAt(bytes, at);
    let end = run.end;
    if (runEnd(bytes, at, identifier) < run.end) {
      const group = groupFrom(bytes, withoutEscape(bytes, run));
      groups.push(group);
      end = group.end;
    }
    at = nextRun(bytes, end, MIN_RUN, anyBase64);
  }
  return groups;
}

/** From its first character. */
function runAt(bytes: Buffer, start: number): Base64Run {
  let end = runEnd(bytes, start, anyBase64);
  for (let padding = 0; padding < 2 && bytes[end] === PADDING; padding++) end++;
  return { start, end };
}

/** The letter of an escaped newline does not belong to the base64. */
function withoutEscape(bytes: Buffer, { start, end }: Base64Run): Base64Run {
  const isEscape =
    bytes[start - 1] === BACKSLASH && ESCAPED.test(bytes.toString('latin1', start, start + 1));
  return { start: isEscape ? start + 1 : start, end };
}

function groupFrom(bytes: Buffer, first: Base64Run): Group {
  const runs = [first];
  let { end } = first;
  let isEscaped = false;
  for (;;) {
    const escaped = jsonGapEnd(bytes, end);
    isEscaped ||= escaped !== undefined;
    // A real newline after an escaped one ends the text.
    const lineBelow = isEscaped ? undefined : onNextLine(bytes, first, end);
    const next = escaped === undefined ? lineBelow : runAt(bytes, escaped);
    if (next === undefined || next.end === next.start) break;
    if (next.end - first.start > MAX_GROUP_BYTES) return { runs, end };
    runs.push(next);
    end = next.end;
  }
  const isOpen = end + 2 >= bytes.length && OPEN_END.test(bytes.toString('latin1', end));
  const group = { runs, end };
  return isOpen ? { ...group, openFrom: lineStart(bytes, first.start) } : group;
}

/** Of the line in which a run begins. */
const lineStart = (bytes: Buffer, run: number) => bytes.lastIndexOf(NEWLINE, run) + 1;

/** A line that is base64 from the column of the first run to its end; what stands before it is a log's or an indentation. */
function onNextLine(bytes: Buffer, first: Base64Run, end: number): Base64Run | undefined {
  const newline = bytes[end] === RETURN ? end + 1 : end;
  if (bytes[newline] !== NEWLINE) return undefined;
  const line = newline + 1;
  const start = line + first.start - lineStart(bytes, first.start);
  if (isBase64(bytes[start - 1]) || bytes.subarray(line, start).includes(NEWLINE)) return undefined;
  const run = runAt(bytes, start);
  return isLineEnd(bytes[run.end]) ? run : undefined;
}

const isLineEnd = (byte: number | undefined) =>
  byte === undefined || byte === NEWLINE || byte === RETURN;
