import type { InLine, LinePlace, LineRule, LineSecret, Span } from './line-rule.ts';
import { endOf, matchAt, Q, spanOf } from './separators.ts';
import { Unwrapped } from './unwrap.ts';
import { valueAt } from './value-extent.ts';
import { isNothing } from './values.ts';

/**
 * Kubernetes Secrets in one line: as JSON, also quoted, as a map of YAML or Python, or as Go prints them.
 * Their kind can stand before the data or after it.
 */
export const SECRET_OBJECTS: LineRule = { triggers: ['secret', 'stringdata'], at: secretsAt };

/** What makes a line worth a closer look. */
const IN_LINE = /kind[^\w[\]{}]{1,20}Secret|Secret(?:List)?\{|stringData\W{0,60}:\s{0,8}[m{]/i;
const KIND_OR_BRACKET = /kind[^\w[\]{}]{1,20}Secret(?<list>List)?(?!\w)|(?<bracket>[[\]{}])/gi;
/** What stands before the brackets of a Secret's values. */
const BEFORE_DATA = new RegExp(
  `(?<=(?<![\\w:.])(?<name>data|stringData)${Q}?\\s{0,8}:\\s{0,8}(?:map(?:\\[string\\](?:string|\\[\\](?:uint8|byte)))?)?)`,
  'iy',
);
/** Of brackets; no object has more. */
const MAX_DEPTH = 500;

/** What stands in a pair of brackets, or in none. */
interface Contents {
  isSecret: boolean;
  /** Whether it is a list of Secrets, each of which can leave out what it is. */
  isList: boolean;
  readonly values: Values[];
  /** Of the objects in it that are not known to be Secrets. */
  readonly others: Values[];
}

interface Brackets extends Contents {
  readonly start: number;
  readonly name: 'data' | 'stringData' | 'TypeMeta' | undefined;
}

interface Values extends Span {
  readonly isEncoded: boolean;
}

function secretsAt({ line: { text } }: LinePlace): InLine {
  if (!IN_LINE.test(text)) return { next: text.length, secrets: [] };
  const unwrapped = new Unwrapped(text);
  const secrets = inObjects(unwrapped.text).map((secret) => ({
    ...secret,
    ...unwrapped.rawOf(secret),
  }));
  return { next: text.length, secrets };
}

function inObjects(text: string): LineSecret[] {
  const found: Values[] = [];
  const root: Contents = { isSecret: false, isList: false, values: [], others: [] };
  const open: Brackets[] = [];
  for (const { index, groups } of text.matchAll(KIND_OR_BRACKET)) {
    if (open.length >= MAX_DEPTH) break;
    const inner = open.at(-1) ?? root;
    const bracket = groups?.bracket;
    if (bracket === '{' || bracket === '[') open.push(opened(text, index));
    else if (bracket !== undefined) close(open, root, index, found);
    else if (groups?.list !== undefined) inner.isList = true;
    else inner.isSecret = true;
  }
  // Cut off before their ends.
  while (open.length > 0) close(open, root, text.length, found);
  addAll(found, secretValues(root));
  return outermost(found).flatMap((values) => valuesIn(text, values));
}

/** What is inside other brackets is found with those. */
function outermost(found: readonly Values[]): Values[] {
  const result: Values[] = [];
  for (const values of found.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last === undefined || values.end > last.end) result.push(values);
  }
  return result;
}

function opened(text: string, at: number): Brackets {
  const isSecret = text.startsWith('Secret', at - 6);
  return {
    start: at,
    name: nameBefore(text, at),
    isSecret,
    isList: false,
    values: [],
    others: [],
  };
}

function nameBefore(text: string, at: number): Brackets['name'] {
  if (text.startsWith('TypeMeta:', at - 9)) return 'TypeMeta';
  const name = matchAt(BEFORE_DATA, text, at)?.groups?.name;
  if (name === undefined) return undefined;
  return name.toLowerCase() === 'data' ? 'data' : 'stringData';
}

/** Leaves a pair of brackets; adds the values of the Secrets that are known then. */
function close(open: Brackets[], root: Contents, end: number, found: Values[]): void {
  const inner = open.pop();
  if (inner === undefined) return;
  const outer = open.at(-1) ?? root;
  if (inner.name === 'TypeMeta' && inner.isSecret) outer.isSecret = true;
  if (inner.name === 'data' || inner.name === 'stringData') {
    outer.values.push({ start: inner.start + 1, end, isEncoded: inner.name === 'data' });
    // Nothing else has such data.
    if (inner.name === 'stringData') outer.isSecret = true;
  }
  addAll(found, secretValues(inner));
  addAll(outer.others, inner.others);
  if (!inner.isSecret) addAll(outer.others, inner.values);
}

function secretValues({ isSecret, isList, values, others }: Contents): readonly Values[] {
  if (isList) return [...values, ...others];
  return isSecret ? values : [];
}

/** There can be more of them than a call can have arguments. */
function addAll(all: Values[], more: readonly Values[]): void {
  for (const values of more) all.push(values);
}

const KEY = new RegExp(
  `(?<![-._A-Za-z0-9])[-._A-Za-z0-9]{1,253}${Q}?[\\s\\ue600]{0,8}:[\\s\\ue600]{0,8}`,
  'g',
);
/** As Go prints them. */
const BYTES =
  /(?:\[\](?:uint8|byte))?[[{](?<value>(?:0x)?[\da-f]{1,3}(?:(?:, ?| )(?:0x)?[\da-f]{1,3}){0,1048576}|),?[\]}]/dy;
const QUOTE = new RegExp(Q, 'y');
/** In a map that Go prints, up to the next key. */
const GO_VALUE = /(?:[^\s\]}]|\s(?![-._A-Za-z0-9]{1,253}:))+/y;
/** What begins with a bracket is not a value, but can contain values. */
const FLOW_VALUE = /(?![[{])[^,}\]"\ue000-\ue600]+/y;

/** A value for each key up to `end`, whatever it looks like. `isEncoded`: in base64, marked as what it stands for. */
export function valuesIn(
  text: string,
  { start, end, isEncoded }: Omit<Values, 'end'> & Partial<Span>,
): (LineSecret & { readonly means: string })[] {
  const isGo = text[start - 1] === '[';
  const inside = text.slice(0, end);
  const secrets: ReturnType<typeof valuesIn> = [];
  KEY.lastIndex = start;
  while (KEY.test(inside)) {
    const from = KEY.lastIndex;
    const value = valueFrom(inside, from, isGo);
    if (value === undefined) continue;
    KEY.lastIndex = value.end;
    const secret = text.slice(value.start, value.end);
    if (!isNothing(secret))
      secrets.push({
        ...value,
        means: isEncoded ? decoded(secret) : secret,
        certainty: 'possible',
      });
  }
  return secrets;
}

function valueFrom(text: string, at: number, isGo: boolean): Span | undefined {
  const bytes = spanOf(matchAt(BYTES, text, at), 'value');
  if (bytes !== undefined) return bytes;
  if (endOf(QUOTE, text, at) !== undefined) return valueAt(text, at, 'word');
  const plain = endOf(isGo ? GO_VALUE : FLOW_VALUE, text, at);
  return plain === undefined ? undefined : { start: at, end: plain };
}

const decoded = (base64: string) =>
  /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? Buffer.from(base64, 'base64').toString('utf8') : base64;
