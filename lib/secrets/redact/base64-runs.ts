import { anyBase64, identifier, nextRun, runEnd } from '../bytes/base64-text.ts';
import type { Budget } from '../bytes/budget.ts';
import { decodedBlob } from './blobs.ts';
import { reencoded } from './data-urls.ts';
import { bareBase64 } from './pem.ts';
import type { EncodedText, Span } from './rule.ts';

/** A column of lines that is longer is looked at in pieces of this many bytes. */
export const MAX_GROUP_BYTES = 1 << 18;

const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const EQUALS = 0x3d;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
/** Shorter runs hold no document and no key that other rules do not know. */
const MIN_RUN = 24;
/** Only as JSON escapes line breaks: in text in which other lines may follow each other. */
const ESCAPED = /^(?:(?:\\+[nr])+ *|\\+(?=\/))/;
const MAX_ESCAPED = 160;

/** One text in base64, in one run of characters or wrapped: over escaped newlines, or over lines of one column. */
export interface Group extends Pick<EncodedText, 'runs' | 'openFrom'> {
  /** Of the last run. */
  readonly end: number;
}

export function* base64Texts(bytes: Buffer): Generator<EncodedText> {
  for (const { runs, openFrom } of base64Groups(bytes)) {
    const text = runs.map(({ start, end }) => bytes.toString('latin1', start, end)).join('');
    const start = runs[0]?.start ?? 0;
    const isFile =
      bytes[start - 1] === COMMA &&
      runs.length === 1 &&
      bytes.toString('latin1', start - 8, start) === ';base64,';
    const meanings = (budget: Budget) => {
      const document = decodedBlob(text, budget) ?? [];
      return [document === 'secret' ? bareBase64(text) : document].flat();
    };
    yield {
      runs,
      openFrom,
      meanings,
      inFile: isFile ? (safe) => reencoded(text, safe) : undefined,
    };
  }
}

/** All texts in base64 that begin with a long run; that includes paths, but not digests or UUIDs. */
export function base64Groups(bytes: Buffer): Group[] {
  const groups: Group[] = [];
  for (let at = nextRun(bytes, 0, MIN_RUN, anyBase64); at !== -1; ) {
    let end = runEnd(bytes, at, anyBase64);
    if (runEnd(bytes, at, identifier) < end) {
      // The letter of an escaped newline is none of it.
      const isEscape =
        bytes[at - 1] === BACKSLASH && /^[nrt]/.test(bytes.toString('latin1', at, at + 1));
      const group = groupFrom(bytes, runAt(bytes, isEscape ? at + 1 : at));
      groups.push(group);
      end = group.end;
    }
    at = nextRun(bytes, end, MIN_RUN, anyBase64);
  }
  return groups;
}

function groupFrom(bytes: Buffer, first: Span): Group {
  const runs = [first];
  let { end } = first;
  let isEscaped = false;
  for (;;) {
    const escaped = afterEscapes(bytes, end);
    isEscaped ||= escaped !== undefined;
    // A real newline after an escaped one ends the text.
    const next = isEscaped ? escaped : onNextLine(bytes, end, first.start);
    if (next === undefined || next.end === next.start) break;
    if (next.end - first.start > MAX_GROUP_BYTES) return { runs, end };
    runs.push(next);
    end = next.end;
  }
  const isOpen = end + 2 >= bytes.length && /^\r?\n?$/.test(bytes.toString('latin1', end));
  return isOpen ? { runs, end, openFrom: lineStart(bytes, first.start) } : { runs, end };
}

function afterEscapes(bytes: Buffer, at: number): Span | undefined {
  if (bytes[at] !== BACKSLASH) return undefined;
  const gap = ESCAPED.exec(bytes.toString('latin1', at, at + MAX_ESCAPED))?.[0].length;
  return gap === undefined ? undefined : runAt(bytes, at + gap);
}

/**
 * A line that is base64 to its end from the column of the first run, which is at `first`; what stands before it is a
 * log's or an indentation.
 */
function onNextLine(bytes: Buffer, end: number, first: number): Span | undefined {
  const newline = bytes[end] === RETURN ? end + 1 : end;
  if (bytes[newline] !== NEWLINE) return undefined;
  const start = newline + 1 + first - lineStart(bytes, first);
  if (/\n|[\w+/-]$/.test(bytes.toString('latin1', newline + 1, start))) return undefined;
  const run = runAt(bytes, start);
  return /^(?:\r?\n|\r?$)/.test(bytes.toString('latin1', run.end, run.end + 2)) ? run : undefined;
}

const lineStart = (bytes: Buffer, at: number) => bytes.lastIndexOf(NEWLINE, at) + 1;

function runAt(bytes: Buffer, start: number): Span {
  let end = runEnd(bytes, start, anyBase64);
  for (let padding = 0; padding < 2 && bytes[end] === EQUALS; padding++) end++;
  return { start, end };
}
