import type { Span } from './rule.ts';
import { BREAKS, QUOTES } from './unwrap.ts';

export const Q = `[${QUOTES}]`;
/** An end of a line, or of a line in a text that is quoted. */
export const BREAK = `[${BREAKS}]`;
/** Blanks, as many as a table has. */
export const GAP = '[^\\S\\n]{0,200}';
const SPACE = '[\\s\\ue600]';
const END = `(?=${BREAK}|$)`;

/** What stands between a name and its value. */
export interface Separator {
  /** Where the value begins. */
  readonly end: number;
  /**
   * `colon` and `equals`: as in files of settings; `word`: only one word, or a value in quotes; `column`: all that is
   * left of the line; `below`: the entry with the value is on the next line; `stated`: a word in a sentence; `near`: a
   * word beside the name, which says nothing of it.
   */
  readonly by: 'colon' | 'equals' | 'word' | 'column' | 'stated' | 'near' | 'below';
  /** The value, if the separator surrounds it. */
  readonly value?: Span;
}

/** Where a name stands. */
export interface NamePlace {
  readonly name: string;
  /** What stands before it in its line, or the end of that. */
  readonly before: string;
  /** Whether it is the first word of its line. */
  readonly isFirst: boolean;
}

const sticky = (source: string, flags = '') => new RegExp(source, `y${flags}`);

const ASSIGNED = sticky(
  `${Q}?\\]?${GAP}(?::${GAP}[A-Za-z][\\w<>.]{0,40}[^\\S\\n]{1,8}=(?=\\s)|(?<colon>::?(?=\\s|\\ue600|$))|(?<equals>[?+]?=(?![=>~]))|:(?![:=])|={2,3}|(?<arrow>=>|->)|:=)${GAP}(?:\\\\[^\\S\\n]{0,8}\\r?${BREAK}[^\\S\\n]{0,80})?`,
);
/** `${NAME-value}`, `${NAME:=value}`. */
const SHELL_DEFAULT = sticky(':?[-=]"?(?<value>[^}"\\n]{1,512})', 'd');
/** A short field of an object, with the comma after it. */
const FIELD = `${Q}?\\w{1,40}${Q}?\\s{0,8}[:=]\\s{0,8}${Q}?[\\w.-]{0,80}${Q}?(?:,${SPACE}{0,80}|${BREAK}\\s{1,80})`;
const VALUE_NAME = `${Q}?(?:value|string|plainText|default|content|secret|data)${Q}?[^\\S\\n]{0,8}[:=][^\\S\\n]{0,8}`;
/** An object that holds the value. */
const VALUE_OF = sticky(
  `${SPACE}{0,80}\\{${SPACE}{0,80}(?:(?!${VALUE_NAME})${FIELD}){0,4}${VALUE_NAME}`,
  'i',
);
/** After `name: X`: `value: …`, with short fields between, also on the next line. */
const NAMED = sticky(
  `${Q}?(?:${GAP},${SPACE}{0,80}|${GAP}${BREAK}[-+ ]{0,80}|[^\\S\\n]{1,80})(?:(?!${VALUE_NAME})${FIELD}){0,3}${VALUE_NAME}`,
  'i',
);
const IS_BELOW = new RegExp(BREAK);
const IS_NAMED = new RegExp(
  `<(?:[\\w-]{1,40}:)?$|(?<![\\w-])(?:name|key|env|variable|property|param|parameter|option|setting|field|id)${Q}?\\s{0,8}[:=]\\s{0,8}${Q}?$`,
  'i',
);
/** `<X>…</`, `<a name="X">…</`, `<key>X</key><string>…</`. */
const ELEMENT = sticky(
  `(?:${Q}?(?:\\s[^<>]{0,200})?|</[\\w:.-]{1,64}>${SPACE}{0,80}<(?:[\\w-]{1,40}:)?(?:string|value|val|data|text|content|default)(?:\\s[^<>]{0,200})?)>(?<value>[^<>]{1,4096})</`,
  'd',
);
const MAX_TAG = 420;
/** Of what stands before a name. */
const MAX_NEAR = 100;
/** The next word of a command line, which in /proc ends with NUL, in a list is in quotes, and in a record of auditd has a number. */
const ARGUMENT = sticky(
  `[^\\S\\n]{0,8}\\\\\\r?${BREAK}\\s{0,80}|(?:[^\\S\\n]|\\0){1,8}(?!-)|${Q},${SPACE}{0,80}(?=${Q}(?!-))|" a\\d{1,5}(?:_len=\\d{1,8} a\\d{1,5})?(?:\\[0\\])?=`,
);
/** Of two, and no more. */
const PAIR = sticky(`${Q},${SPACE}{0,80}(?=${Q}[^\\n]{1,4096}?${Q}\\s{0,8}[\\])}])`);
/** The first argument of a function. */
const IS_CALLED = new RegExp(`\\(${Q}$`);
const IS_FIRST_OF_PAIR = new RegExp(`[[({]\\s{0,8}${Q}$`);
/** `PASSWORD '…'` of SQL, `secret "…";` of BIND, `password is "…"`. */
const QUOTE = sticky(
  `${Q}?[^\\S\\n]{1,200}(?:\\(${GAP})?(?=${Q})|\\(${GAP}(?=${Q})|${Q}?[^\\S\\n](?:is|was|to|changed to|set to|value)[^\\S\\n]{0,4}[:=]?[^\\S\\n]{1,8}(?=${Q})`,
);
const STATED = sticky(
  `(?:[^\\S\\n](?:for|of|to|on)(?:[^\\S\\n](?!is |was )[\\w.@\\\\${QUOTES}-]{1,64}){1,4})?(?:[^\\S\\n](?:is|was|to|changed to|changed from|set to|was set to|has been set to|value)[^\\S\\n]{0,4}[:=]?|[^\\S\\n]{0,4}[:=])[^\\S\\n]{1,8}(?=\\S{6,4096}(?:[\\s\\ue600]|$))`,
);
const NEAR = sticky(`[^\\S\\n]{1,4}(?=[^\\s${QUOTES}])`);
const CELL = sticky(`${GAP}(?:\\||\\xe2\\x94\\x82)${GAP}`);
const COLUMN = sticky(
  `(?:\\t|[^\\S\\n]{2,200})${GAP}(?=[^\\s|-]\\S{0,4096}[^\\S\\n]{0,200}${END})`,
);
/** A line of two words, as programs configure themselves. */
const DIRECTIVE = sticky(
  `[^\\S\\n](?=[^\\s:=|-]\\S{3,4096}[^\\S\\n]{0,200}${END})(?![a-z]{1,20}(?:ed|ing|tion|s)[.:]?[^\\S\\n]{0,200}${END})`,
);
/** `machine … login … password …` */
const USER =
  /(?:^|[\s"'])(?:machine|login|user|username|account|connect|ssid|neighbor)\s+\S*\w\S*\s+$/i;

/** A separator, tried in this order. */
interface Kind {
  readonly by: Separator['by'];
  readonly shape: RegExp;
  /** Of the name's place; `near`: the end of what stands before it. */
  readonly when?: (place: NamePlace, near: string, next: string) => boolean;
}

const BAR_BEFORE = /(?:\||\xe2\x94\x82)\s*$/;

const KINDS: readonly Kind[] = [
  { by: 'word', shape: VALUE_OF },
  { by: 'word', shape: NAMED, when: (_, near) => IS_NAMED.test(near) },
  {
    by: 'word',
    shape: ARGUMENT,
    when: ({ name }, near) => name.startsWith('-') || IS_CALLED.test(near),
  },
  { by: 'stated', shape: PAIR, when: (_, near) => IS_FIRST_OF_PAIR.test(near) },
  // A function that is called `pass`.
  { by: 'word', shape: QUOTE, when: ({ name }, _, next) => !(/pass$/i.test(name) && next === '(') },
  { by: 'stated', shape: STATED },
  { by: 'word', shape: NEAR, when: (_, near) => USER.test(near) },
  { by: 'column', shape: CELL, when: ({ isFirst, before }) => isFirst || BAR_BEFORE.test(before) },
  { by: 'column', shape: COLUMN, when: ({ isFirst, before }) => isFirst || before === '' },
  {
    by: 'column',
    shape: DIRECTIVE,
    when: ({ name, isFirst }) => isFirst && /^[a-z][a-z_-]*$/.test(name),
  },
  { by: 'near', shape: NEAR },
];

export function separatorAfter(text: string, at: number, place: NamePlace): Separator | undefined {
  const near = place.before.slice(-MAX_NEAR);
  if (near.endsWith('${')) {
    const value = spanOf(matchAt(SHELL_DEFAULT, text, at), 'value');
    return value && { end: value.start, by: 'word', value };
  }
  const sign = assigned(text, at);
  if (sign !== undefined) return sign;
  const element = text.slice(at, at + MAX_TAG).includes('>')
    ? spanOf(matchAt(ELEMENT, text, at), 'value')
    : undefined;
  if (element !== undefined) return { end: element.start, by: 'word', value: element };
  for (const { by, shape, when } of KINDS) {
    if (when?.(place, near, text.charAt(at)) === false) continue;
    const end = endOf(shape, text, at);
    if (end === undefined) continue;
    const isBelow = shape === NAMED && IS_BELOW.test(text.slice(at, end));
    return { end, by: isBelow ? 'below' : by };
  }
  return undefined;
}

function assigned(text: string, at: number): Separator | undefined {
  const groups = matchAt(ASSIGNED, text, at)?.groups;
  if (groups === undefined) return undefined;
  const end = ASSIGNED.lastIndex;
  const inner = endOf(VALUE_OF, text, end);
  if (inner !== undefined) return { end: inner, by: 'word' };
  if (groups.colon !== undefined) return { end, by: 'colon' };
  if (groups.equals !== undefined) return { end, by: 'equals' };
  // In a dump of PHP, the value is on the next line.
  const below = groups.arrow === undefined ? undefined : endOf(NEXT_LINE, text, end);
  return { end: below ?? end, by: 'word' };
}

const NEXT_LINE = sticky(`${BREAK}\\s{0,80}`);

/** Where the shape ends that begins at `at`. */
export function endOf(shape: RegExp, text: string, at: number): number | undefined {
  shape.lastIndex = at;
  return shape.test(text) ? shape.lastIndex : undefined;
}

export function matchAt(shape: RegExp, text: string, at: number): RegExpExecArray | undefined {
  shape.lastIndex = at;
  return shape.exec(text) ?? undefined;
}

/** Where a group has matched, of a shape with the flag `d`. */
export function spanOf(match: RegExpExecArray | undefined, group: string): Span | undefined {
  const place = match?.indices?.groups?.[group];
  return place === undefined ? undefined : { start: place[0], end: place[1] };
}
