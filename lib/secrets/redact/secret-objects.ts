import type { InLine, LineRule, Place, Secret, Span } from './line-rule.ts';
import { isNothing } from './names.ts';
import { endOf, matchAt } from './separators.ts';
import { valueAt } from './value-extent.ts';

/**
 * Kubernetes Secrets in one line: as JSON, also quoted, as a map of YAML or Python, or as Go prints them.
 * Their kind can stand before the data or after it.
 */
export const SECRET_OBJECTS: LineRule = { triggers: ['secret', 'stringdata'], at: secretsAt };

const KIND = /kind\W{1,20}Secret(?<list>List)?(?!\w)/gi;
/** What stands before the brackets of a Secret's values. */
const DATA =
  /(?<![\w:.])(?<name>data|stringData)\\{0,15}["']?\s{0,8}:\s{0,8}(?:map(?:\[string\](?:string|\[\](?:uint8|byte)))?)?$/i;
/** Looked at before a bracket. */
const BEFORE = 64;
/** Of brackets; no object has more. */
const MAX_DEPTH = 500;

/** What stands in a pair of brackets. */
interface Brackets {
  readonly start: number;
  readonly name: 'data' | 'stringData' | 'TypeMeta' | undefined;
  isSecret: boolean;
  /** A list of Secrets, or what is in one. */
  isList: boolean;
  readonly values: Values[];
}

interface Values extends Span {
  readonly isEncoded: boolean;
}

function secretsAt({ line: { text }, at, length }: Place): InLine {
  const after = text.slice(at + length, at + length + 24);
  const isKind = /kind\W{1,20}$/i.test(text.slice(Math.max(0, at - 24), at));
  const isType = length === 'secret'.length && /^(?:List)?\{/.test(after);
  const isData = length > 'secret'.length && /^\\{0,15}["']?\s{0,8}:\s{0,8}[m{]/.test(after);
  if (!isKind && !isType && !isData) return { next: at + length, secrets: [] };
  return { next: text.length, secrets: inObjects(text) };
}

function inObjects(text: string): Secret[] {
  const kinds = text.matchAll(KIND);
  let kind = kinds.next().value;
  const found: Values[] = [];
  const root: Brackets = { start: -1, name: undefined, isSecret: false, isList: false, values: [] };
  const open = [root];
  const shape = /[[\]{}]/g;
  for (
    let match = shape.exec(text);
    match !== null && open.length < MAX_DEPTH;
    match = shape.exec(text)
  ) {
    const inner = open.at(-1) ?? root;
    for (; kind !== undefined && kind.index < match.index; kind = kinds.next().value) {
      if (kind.groups?.list === undefined) inner.isSecret = true;
      else inner.isList = true;
    }
    if (match[0] === '{' || match[0] === '[') open.push(opened(text, match.index, inner));
    else if (open.length > 1) found.push(...closed(open, match.index));
  }
  // Cut off before their ends.
  while (open.length > 1) found.push(...closed(open, text.length));
  found.push(...(root.isSecret ? root.values : []));
  let end = 0;
  return found
    .toSorted((a, b) => a.start - b.start)
    .flatMap((values) => {
      // What is in others has been found with them.
      if (values.start < end) return [];
      end = values.end;
      return valuesIn(text, values);
    });
}

function opened(text: string, at: number, outer: Brackets): Brackets {
  const { isList } = outer;
  const isType = text.startsWith('Secret', at - 6) || text.startsWith('SecretList', at - 10);
  return { start: at, name: nameBefore(text, at), isSecret: isList || isType, isList, values: [] };
}

function nameBefore(text: string, at: number): Brackets['name'] {
  if (text.startsWith('TypeMeta:', at - 9)) return 'TypeMeta';
  const before = text.slice(Math.max(0, at - BEFORE), at);
  if (before.lastIndexOf('ata') === -1) return undefined;
  const name = DATA.exec(before)?.groups?.name?.toLowerCase();
  return name === undefined ? undefined : name === 'data' ? 'data' : 'stringData';
}

/** Leaves a pair of brackets; the values of the Secret that it is. */
function closed(open: Brackets[], end: number): readonly Values[] {
  const inner = open.pop();
  const outer = open.at(-1);
  if (inner === undefined || outer === undefined) return [];
  if (inner.name === 'TypeMeta' && inner.isSecret) outer.isSecret = true;
  if (inner.name === 'data' || inner.name === 'stringData') {
    outer.values.push({ start: inner.start + 1, end, isEncoded: inner.name === 'data' });
    // Nothing else has such data.
    if (inner.name === 'stringData') outer.isSecret = true;
  }
  return inner.isSecret ? inner.values : [];
}

const KEY = /\\{0,15}["']?(?<![-._A-Za-z0-9])[-._A-Za-z0-9]{1,253}\\{0,15}["']?\s{0,8}:\s{0,8}/g;
/** As Go prints them. */
const BYTES =
  /(?:\[\](?:uint8|byte))?[[{](?<value>(?:0x)?[\da-f]{1,3}(?:(?:, ?| )(?:0x)?[\da-f]{1,3}){0,1048576}|),?[\]}]/dy;
const QUOTE = /\\{0,15}["']/y;
/** In a map that Go prints, up to the next key. */
const GO_VALUE = /(?:[^\s\]}]|\s(?![-._A-Za-z0-9]{1,253}:))+/y;
const FLOW_VALUE = /[^,}\]\\"]+/y;

/** A value for each key, whatever it looks like. `isEncoded`: in base64, marked as what it stands for. */
export function valuesIn(text: string, { start, end, isEncoded }: Values): Secret[] {
  const isGo = text[start - 1] === '[';
  const inside = text.slice(0, end);
  const secrets: Secret[] = [];
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
  const [start, end] = matchAt(BYTES, text, at)?.indices?.groups?.value ?? [];
  if (start !== undefined && end !== undefined) return { start, end };
  if (endOf(QUOTE, text, at) !== undefined) return valueAt(text, at, 'word')?.value;
  const plain = endOf(isGo ? GO_VALUE : FLOW_VALUE, text, at);
  return plain === undefined ? undefined : { start: at, end: plain };
}

const decoded = (base64: string) =>
  /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? Buffer.from(base64, 'base64').toString('utf8') : base64;
