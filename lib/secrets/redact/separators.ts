import type { Span } from './line-rule.ts';

/** Colours of a terminal, as they are or as programs escape them. */
export const COLOUR = '(?:\\x1b|\\\\{1,4}(?:u001b|x1b|033|e)|#033|\\^\\[)\\[[\\d;]{0,16}[mK]';
/** Blanks, as many as a table has, and colours. */
const GAP = `[^\\S\\n]{0,200}(?:${COLOUR}[^\\S\\n]{0,200}){0,4}`;
const QUOTE = '\\\\{0,15}["\'`]';

/** What stands between a name and its value. */
export interface Separator {
  /** Where the value begins. */
  readonly end: number;
  /**
   * `colon` and `equals`: as in files of settings; `element`: XML, of which the value is known;
   * `word`: only one word, or a value in quotes; `stated`: one word in a sentence; `column`: all that is left of the line.
   */
  readonly by: 'colon' | 'equals' | 'element' | 'word' | 'stated' | 'column';
  readonly value?: Span;
}

/** After the name, which may stand in quotes, escaped or not. */
const ASSIGNED = new RegExp(
  `(?:${COLOUR})?(?:${QUOTE})?${GAP}(?:(?<colon>::?(?=\\s|$))|(?<equals>[?+]?=(?![=>]))|:(?![=:])|={2,3}|=>|->|:=)${GAP}`,
  'y',
);
/** `{"name": "…", "value": "…"}` of an environment variable, also as Go and XML write it, with short fields between. */
const FIELD =
  '\\\\{0,15}["\']?\\w{1,40}\\\\{0,15}["\']?\\s{0,8}[:=]\\s{0,8}\\\\{0,15}["\']?[\\w.-]{0,80}';
const NAMED_VALUE = new RegExp(
  `\\\\{0,15}["']?(?:\\s{0,8},\\s{0,8}|\\s{1,8})(?:${FIELD}\\\\{0,15}["']?,\\s{0,8}){0,3}\\\\{0,15}["']?value\\\\{0,15}["']?\\s{0,8}[:=]\\s{0,8}`,
  'iy',
);
/** Of the rest of a tag after the name in it, with backslashes before a quote. */
const MAX_TAG = 220;
const ELEMENT = /\\{0,15}["']?(?:\s[^<>]{0,200})?>(?<value>[^<>]{1,4096})<\//dy;
/** The next word of a command line, which in /proc ends with NUL, and in a list is in quotes. */
const NEXT_ARGUMENT = /[\s\0]{1,8}(?!-)|\\{0,15}["'],\s{0,8}(?=\\{0,15}["'](?!-))/y;
/** `PASSWORD '…'` of SQL, `secret "…";` of BIND. */
const NEXT_QUOTE =
  /(?:\\{0,15}["'`])?[^\S\n]{1,200}(?:\([^\S\n]{0,8})?(?=\\{0,15}["'`])|\([^\S\n]{0,8}(?=\\{0,15}["'`])/y;
const COLUMN = new RegExp(
  `(?:${COLOUR})?(?:\\t|[^\\S\\n]{2,200})${GAP}(?=[^\\s|-]\\S{0,4096}\\s{0,200}$)`,
  'y',
);
const CELL = /[^\S\n]{0,200}(?:\||\xe2\x94\x82)[^\S\n]{0,200}/y;
/** A line of two words, as programs configure themselves. */
const DIRECTIVE =
  /[^\S\n](?=[^\s:=|-]\S{3,4096}\s{0,200}$)(?![a-z]{1,20}(?:ed|ing|tion|s)[.:]?\s{0,200}$)/y;
/** `machine … login … password …` */
const USER = /(?:^|[\s"'])(?:machine|login|user|username|account|connect|ssid|neighbor)$/i;
/** The longest of them, and what stands before it. */
const MAX_USER = 10;
const NEXT_WORD = /[^\S\n]{1,200}(?=\S)/y;
const STATED =
  /[^\S\n](?:is|was|to|changed to|set to|value)[^\S\n]{0,4}[:=]?[^\S\n]{1,8}(?=\S{6,4096}(?:\s|$))/y;
const STATED_QUOTE =
  /["']?[^\S\n](?:is|was|to|changed to|set to|value)[^\S\n]{0,4}[:=]?[^\S\n]{1,8}(?=\\{0,15}["'`])/y;
/** Settings of a name and all that follows. */
const SETTING = /^(?:bindpw|rootpw|requirepass|masterauth|auth_pass)$/;
const SETTING_GAP = /[^\S\n]{1,200}(?=[^\s-])/y;
/** Keys of IPsec. */
const ENCODED = /[^\S\n]{1,8}(?=0[sx][A-Za-z0-9+/=]{12,4096}(?:\s|$))/y;
/** An object that holds the value. */
const VALUE_OF = /\{\s{0,8}\\{0,15}["']?(?:value|string|plainText)\\{0,15}["']?\s{0,4}:\s{0,8}/iy;

/** `before`: what stands before the name, or its end; `isFirst`: the name is the first word of its line. */
export function separatorAfter(
  line: string,
  nameEnd: number,
  { name, before, isFirst }: { name: string; before: string; isFirst: boolean },
): Separator | undefined {
  const assigned = matchAt(ASSIGNED, line, nameEnd);
  if (assigned !== undefined) {
    const { groups } = assigned;
    const isColon = groups?.colon !== undefined;
    const by = isColon ? 'colon' : groups?.equals !== undefined ? 'equals' : 'word';
    const end = ASSIGNED.lastIndex;
    const inner = endOf(VALUE_OF, line, end);
    return inner === undefined ? { end, by } : { end: inner, by: 'word' };
  }
  const named = endOf(NAMED_VALUE, line, nameEnd);
  if (named !== undefined) return { end: named, by: 'word' };
  const element = line.slice(nameEnd, nameEnd + MAX_TAG).includes('>')
    ? matchAt(ELEMENT, line, nameEnd)
    : undefined;
  const value = spanOf(element, 'value');
  if (value !== undefined) return { end: value.start, by: 'element', value };
  const argument =
    name.startsWith('-') || /\(["']$/.test(before)
      ? endOf(NEXT_ARGUMENT, line, nameEnd)
      : undefined;
  if (argument !== undefined) return { end: argument, by: 'word' };
  const quote = endOf(NEXT_QUOTE, line, nameEnd) ?? endOf(STATED_QUOTE, line, nameEnd);
  if (quote !== undefined) return { end: quote, by: 'word' };
  const stated = endOf(STATED, line, nameEnd);
  if (stated !== undefined) return { end: stated, by: 'stated' };
  if (isAfterUser(before)) return wordFrom(endOf(NEXT_WORD, line, nameEnd));
  const encoded = endOf(ENCODED, line, nameEnd);
  if (encoded !== undefined) return { end: encoded, by: 'word' };
  if (!isFirst) return undefined;
  const setting = SETTING.test(name) ? endOf(SETTING_GAP, line, nameEnd) : undefined;
  if (setting !== undefined) return { end: setting, by: 'column' };
  const column =
    endOf(CELL, line, nameEnd) ??
    endOf(COLUMN, line, nameEnd) ??
    (/^[a-z][a-z_-]*$/.test(name) ? endOf(DIRECTIVE, line, nameEnd) : undefined);
  return column === undefined ? undefined : { end: column, by: 'column' };
}

/** Whether a word of USER and a name stand at the end. */
function isAfterUser(before: string): boolean {
  const name = before.trimEnd();
  if (name.length === before.length) return false;
  const space = name.lastIndexOf(' ') + 1;
  const start = space + name.slice(space).lastIndexOf('\t') + 1;
  return /\w/.test(name.slice(start)) && USER.test(name.slice(0, start).trimEnd().slice(-MAX_USER));
}

const wordFrom = (end: number | undefined): Separator | undefined =>
  end === undefined ? undefined : { end, by: 'word' };

/** Where the shape ends that begins at `at`. */
export function endOf(shape: RegExp, line: string, at: number): number | undefined {
  shape.lastIndex = at;
  return shape.test(line) ? shape.lastIndex : undefined;
}

export function matchAt(shape: RegExp, line: string, at: number): RegExpExecArray | undefined {
  shape.lastIndex = at;
  return shape.exec(line) ?? undefined;
}

/** Where a group has matched, of a shape with the flag `d`. */
export function spanOf(match: RegExpExecArray | undefined, group: string): Span | undefined {
  const place = match?.indices?.groups?.[group];
  return place === undefined ? undefined : { start: place[0], end: place[1] };
}
