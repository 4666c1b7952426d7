import { anyBase64, identifier, nextRun, runEnd } from '../bytes/base64-text.ts';
import type { Budget } from '../bytes/budget.ts';
import { decodedBlob } from './blobs.ts';
import { reencoded } from './data-urls.ts';
import { bareBase64 } from './pem.ts';
import type { EncodedText, Span } from './rule.ts';
import { endOf } from './separators.ts';

/** A column of lines that is longer is looked at in pieces of this many bytes. */
export const MAX_GROUP_BYTES = 1 << 18;

const COMMA = 0x2c;
/** Shorter runs hold no document and no key that other rules do not know. */
const MIN_RUN = 24;
/** Only as JSON escapes line breaks: in text in which other lines may follow each other. */
const ESCAPED = /(?:\\+[nr])+|\\+(?=\/)/y;
const RUN = /[\w+/-]*={0,2}/y;

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
  const text = bytes.toString('latin1');
  const groups: Group[] = [];
  let lineStart = 0;
  let searched = 0;
  for (let at = nextRun(bytes, 0, MIN_RUN, anyBase64); at !== -1; ) {
    let end = runEnd(bytes, at, anyBase64);
    if (runEnd(bytes, at, identifier) < end) {
      // The letter of an escaped newline is none of it.
      const isEscape = text[at - 1] === '\\' && /[nrt]/.test(text.charAt(at));
      const first = runAt(text, isEscape ? at + 1 : at);
      // From the last run on: a line of a megabyte has thousands of them.
      const newline = text.slice(searched, first.start).lastIndexOf('\n');
      if (newline !== -1) lineStart = searched + newline + 1;
      searched = first.start;
      const group = groupFrom(text, first, lineStart);
      groups.push(group);
      end = group.end;
    }
    at = nextRun(bytes, end, MIN_RUN, anyBase64);
  }
  return groups;
}

function groupFrom(text: string, first: Span, lineStart: number): Group {
  const runs = [first];
  let { end } = first;
  let isEscaped = false;
  for (;;) {
    const gap = text[end] === '\\' ? endOf(ESCAPED, text, end) : undefined;
    const escaped = gap === undefined ? undefined : runAt(text, gap);
    isEscaped ||= escaped !== undefined;
    // A real newline after an escaped one ends the text.
    const next = isEscaped ? escaped : onNextLine(text, end, first.start - lineStart);
    if (next === undefined || next.end === next.start) break;
    if (next.end - first.start > MAX_GROUP_BYTES) return { runs, end };
    runs.push(next);
    end = next.end;
  }
  const isOpen = /^\r?\n?$/.test(text.slice(end, end + 3));
  return isOpen ? { runs, end, openFrom: lineStart } : { runs, end };
}

/** A line that is base64 from the column of the first run to its end; what stands before it is a log's or an indentation. */
function onNextLine(text: string, end: number, column: number): Span | undefined {
  const newline = text[end] === '\r' ? end + 1 : end;
  const before = text.slice(newline + 1, newline + 1 + column);
  if (text[newline] !== '\n' || /\n|[\w+/-]$/.test(before)) return undefined;
  const run = runAt(text, newline + 1 + column);
  return /^(?:\r?\n|\r?$)/.test(text.slice(run.end, run.end + 2)) ? run : undefined;
}

const runAt = (text: string, start: number): Span => ({
  start,
  end: endOf(RUN, text, start) ?? start,
});
