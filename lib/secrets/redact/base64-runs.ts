/** Shorter runs hold no document and no key that other rules do not know. */
const MIN_RUN = 26;
const STRIDE = MIN_RUN >> 1;
const HALF = STRIDE >> 1;
/** A column of lines that is longer is looked at in pieces of this many bytes. */
export const MAX_GROUP_BYTES = 1 << 18;

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const PADDING = 0x3d;
const BACKSLASH = 0x5c;

const base64 = new Uint8Array(256);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') {
  base64[char.charCodeAt(0)] = 1;
}

const hex = new Uint8Array(256);
for (const char of '0123456789abcdefABCDEF') hex[char.charCodeAt(0)] = 1;

export const isBase64 = (byte: number | undefined): boolean =>
  byte !== undefined && base64[byte] === 1;

export interface Run {
  readonly start: number;
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
  let floor = 0;
  let at = 0;
  while (at < bytes.length) {
    // A run that is long enough has two of these places in it, and all between them.
    if (
      base64[bytes[at] ?? 0] !== 1 ||
      base64[bytes[at + HALF] ?? 0] !== 1 ||
      base64[bytes[at + STRIDE - 1] ?? 0] !== 1
    ) {
      at += STRIDE;
      continue;
    }
    let start = at;
    while (start > floor && isBase64(bytes[start - 1])) start--;
    const run = runAt(bytes, start);
    if (run.end - start < MIN_RUN || isHex(bytes, run)) {
      at = run.end;
      continue;
    }
    const group = groupFrom(bytes, withoutEscape(bytes, run));
    groups.push(group);
    floor = group.runs.at(-1)?.end ?? run.end;
    at = floor;
  }
  return groups;
}

/** From its first character; padding included. */
function runAt(bytes: Uint8Array, start: number): Run {
  let end = start;
  while (isBase64(bytes[end])) end++;
  for (let padding = 0; padding < 2 && bytes[end] === PADDING; padding++) end++;
  return { start, end };
}

function isHex(bytes: Uint8Array, { start, end }: Run): boolean {
  for (let at = start; at < end; at++) if (hex[bytes[at] ?? 0] !== 1) return false;
  return true;
}

/** The letter of an escaped newline is none of base64. */
function withoutEscape(bytes: Uint8Array, { start, end }: Run): Run {
  const isEscape = bytes[start - 1] === BACKSLASH && 'nrt'.includes(charAt(bytes, start));
  return { start: isEscape ? start + 1 : start, end };
}

const charAt = (bytes: Uint8Array, at: number) => String.fromCharCode(bytes[at] ?? 0);

function groupFrom(bytes: Buffer, first: Run): Group {
  const runs = [first];
  let last = first;
  // The lines before a run are looked for only where a line ends with it.
  let column: number | undefined;
  for (;;) {
    const escaped = afterEscapedNewline(bytes, last.end);
    if (escaped === undefined && isLineEnd(bytes[last.end])) {
      column ??= first.start - lineStart(bytes, first.start);
    }
    const next = escaped ?? onNextLine(bytes, last.end, column);
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

/** `\n`, with any number of backslashes, and with `\r` before it. */
function afterEscapedNewline(bytes: Uint8Array, end: number): Run | undefined {
  let at = end;
  for (const letter of 'rn') {
    let slash = at;
    while (bytes[slash] === BACKSLASH) slash++;
    if (slash > at && charAt(bytes, slash) === letter) at = slash + 1;
    else if (letter === 'n') return undefined;
  }
  return runAt(bytes, at);
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
