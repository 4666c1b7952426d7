import { type JSONVisitor, visit } from 'jsonc-parser';
import { isRecord, parseJson } from './json.ts';

/** By the codes of jsonc-parser; what is said never quotes the text. */
const FAULTS: Readonly<Record<number, string>> = {
  1: 'no value of JSON',
  2: 'an invalid number',
  3: 'a name without quotes, or one too many comma',
  4: 'no value',
  5: 'a missing colon',
  6: 'a missing comma',
  7: 'a missing }',
  8: 'a missing ]',
  9: 'more after the end',
  10: 'a comment',
  12: 'a quote that is not closed',
};

/**
 * What is wrong with JSON that a person wrote, with its place: it is not JSON, or has a name twice, of which JSON.parse
 * takes the last one without a word. Undefined: nothing. The text can be a secret, and is not quoted.
 */
export function jsonFault(text: string): string | undefined {
  return parseJson(text) === undefined ? `no JSON: ${brokenAt(text)}` : namedTwice(text);
}

/** The first fault of a text that is not JSON, such as "a missing comma at character 5 of line 2". */
export function brokenAt(text: string): string {
  if (text.startsWith('\uFEFF')) return 'a byte order mark at character 1';
  // What is left open at the end is a consequence of what went wrong before it.
  let first: { readonly what: string; readonly offset: number } | undefined;
  const isRead = visited(text, {
    onError: (error, offset) => {
      if (first === undefined || offset < first.offset) {
        first = { what: FAULTS[error] ?? 'a fault', offset };
      }
    },
  });
  if (first === undefined) return isRead ? 'a fault' : TOO_DEEP;
  const zero = leadingZero(text, first.offset);
  if (zero !== undefined) return `a number with a leading zero at ${placeIn(text, zero)}`;
  return `${first.what} at ${placeIn(text, first.offset)}`;
}

/** Where a number such as 0644 begins, of which the parser takes the 0 alone; `offset`: of the digit behind. JSON has no octal numbers. */
function leadingZero(text: string, offset: number): number | undefined {
  const [, zero] = /(?:^|[^\w.+-])(-?0)$/.exec(text.slice(Math.max(offset - 3, 0), offset)) ?? [];
  return zero === undefined || !/^\d/.test(text.charAt(offset)) ? undefined : offset - zero.length;
}

/** Where a name comes for the second time in its mapping, as what was found; undefined: nowhere. */
export function namedTwice(json: string): string | undefined {
  const open: Set<string>[] = [];
  let first: number | undefined;
  const isRead = visited(json, {
    onObjectBegin: () => {
      open.push(new Set());
    },
    onObjectEnd: () => {
      open.pop();
    },
    onObjectProperty: (name, offset) => {
      if (open.at(-1)?.has(name)) first ??= offset;
      open.at(-1)?.add(name);
    },
  });
  if (!isRead) return TOO_DEEP;
  return first === undefined
    ? undefined
    : `the same name twice at ${placeIn(json, first)}: the first would not count`;
}

const TOO_DEEP = 'more levels than can be read';
/** Far more than a real file has, and few enough for whatever walks through them. */
const MOST_LEVELS = 200;

/** Of values that JSON.parse has read, which reads any number of levels; undefined: not too many. */
export function tooManyLevels(value: unknown): string | undefined {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MOST_LEVELS) return TOO_DEEP;
    level = level.flatMap((each: unknown): unknown[] => {
      if (Array.isArray(each)) return each;
      return isRecord(each) ? Object.values(each) : [];
    });
  }
  return undefined;
}

/** False: it has more levels than the parser, which is recursive. */
function visited(text: string, visitor: JSONVisitor): boolean {
  try {
    visit(text, visitor, { disallowComments: true, allowTrailingComma: false });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function placeIn(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  const line = before.length === 1 ? '' : ` of line ${before.length}`;
  return `character ${(before.at(-1)?.length ?? 0) + 1}${line}`;
}
