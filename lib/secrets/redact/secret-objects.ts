import { type Line, lineAfter, lineEnd } from './below.ts';
import { startOfLine } from './prose.ts';
import type { RuleFindings, Secret, SecretRule, Span } from './rule.ts';
import { endOf, Q } from './separators.ts';
import { valueAt } from './value-extent.ts';
import { isNothing, isReference } from './values.ts';

/**
 * The data of Kubernetes Secrets, whatever it looks like: in one line, as JSON, Python and Go print them, and over many by
 * their indentation. Their kind can stand before the data or after it.
 */
export const SECRET_OBJECTS: SecretRule = {
  // Not those of every field of that name.
  triggers: [
    'secret',
    ...[':', '":{', '": {', '":\n', '" : {', "':", '\\', '&'].map((after) => `data${after}`),
  ],
  inText: dataAt,
};

/** No Secret is larger in print, where something else hides its end. */
const MAX_LENGTH = 1 << 16;
const MAX_DEPTH = 100;
/** Before the word that is the trigger; Go prints the kind in an object of its own. */
const KIND = new RegExp(`(?<![\\w-])(?<meta>TypeMeta:\\{)?kind${Q}?[^\\w[\\]{}]{1,20}$`, 'i');
const DATA = `(?<name>data|stringData)${Q}?\\s{0,8}:\\s{0,8}(?:map(?:\\[string\\](?:string|\\[\\](?:uint8|byte)))?)?(?=[[{])`;
const DATA_AT = new RegExp(DATA, 'iy');
/** What an object has in one line. */
const PART = new RegExp(
  `(?<![\\w:.-])${DATA}|(?<![\\w-])kind${Q}?[^\\w[\\]{}]{1,20}(?<kind>Secret)(?![\\w-])|[[\\]{}\\n]`,
  'gi',
);

interface Values extends Span {
  /** In base64, marked as what it stands for. */
  readonly isEncoded: boolean;
}

function dataAt(text: string, at: number, length: number): RuleFindings {
  const next = at + length;
  const isData = text.slice(at, at + 4).toLowerCase() === 'data';
  const start = isData && /string$/i.test(text.slice(Math.max(0, at - 6), at)) ? at - 6 : at;
  const lines = inLines(text, start);
  if (isData) {
    const isOnly = start < at;
    const isName =
      !/[\w:.-]/.test(text.charAt(start - 1)) && endOf(DATA_AT, text, start) !== undefined;
    const secrets = isName ? inLine(text, start, isOnly) : [];
    return { next, secrets: [...secrets, ...lines.secrets], isOpen: lines.isOpen };
  }
  const [word = ''] = /^(?:List)?[[{]?/.exec(text.slice(next, next + 5)) ?? [];
  const isList = word.startsWith('List');
  const before = text.slice(Math.max(0, at - 48), at);
  const kind = /[\w-]/.test(text.charAt(next + (isList ? 4 : 0))) ? null : KIND.exec(before);
  const isObject = /[[{]$/.test(word) && text.startsWith('Secret', at);
  if (kind === null && !isObject) return { next, secrets: [] };
  const from = next + word.length;
  const object = kind?.groups?.meta === undefined ? from : text.indexOf('}', from) + 1;
  const secrets = inLine(text, object, true, isList);
  return { next, secrets: [...secrets, ...lines.secrets], isOpen: lines.isOpen };
}

/** What follows in the line, up to the end of the object; of a list of Secrets, also the data of objects in it. */
function inLine(text: string, at: number, isKnown: boolean, isList = false): Secret[] {
  const values: Values[] = [];
  let data: (Omit<Values, 'end'> & { readonly depth: number }) | undefined;
  let isSecret = isKnown;
  let depth = 0;
  let limit = text.length;
  PART.lastIndex = at;
  for (let part = PART.exec(text); part !== null && depth < MAX_DEPTH; part = PART.exec(text)) {
    const { name, kind } = part.groups ?? {};
    limit = part[0] === '\n' ? part.index : text.length;
    if (part[0] === '\n') break;
    if (kind !== undefined) {
      isSecret ||= depth === 0;
    } else if (name !== undefined) {
      const isEncoded = name.toLowerCase() === 'data';
      // Nothing else has such data.
      isSecret ||= depth === 0 && !isEncoded;
      if (depth === 0 || isList) data ??= { start: PART.lastIndex + 1, depth, isEncoded };
    } else if (/[[{]/.test(part[0])) {
      depth += 1;
    } else {
      depth -= 1;
      if (data?.depth === depth) values.push({ ...data, end: part.index });
      if (data?.depth === depth) data = undefined;
      if (depth < 0) break;
    }
  }
  // It was cut off.
  if (data !== undefined && depth < MAX_DEPTH) values.push({ ...data, end: limit });
  return isSecret ? values.flatMap((each) => valuesIn(text, each)) : [];
}

const SECRET = new RegExp(`^${Q}?kind${Q}?\\s?:\\s{1,8}${Q}?Secret${Q}?,?\\s*(?:#.*)?$`);
const SECTION = new RegExp(`^${Q}?(?<name>data|stringData)${Q}?\\s?:\\s{0,80}(?<flow>\\{.*)?$`);
const FIELD = new RegExp(`^${Q}?(?<name>[A-Za-z]{1,40})${Q}?\\s?:(?:\\s|$)`);
const ENTRY = new RegExp(`^[\\s-]*${Q}?[-._A-Za-z0-9]{1,253}${Q}?\\s?:\\s{1,8}(?<value>.*)$`);

/** Before the word that is the trigger, in its line. */
const BEFORE_FIELD = new RegExp(`(?:${Q}?kind${Q}?\\s?:\\s{1,8}${Q}?|${Q}?)$`);

/** An object by its indentation: the fields at the same column as the one around an offset. */
function inLines(text: string, at: number): Pick<RuleFindings, 'secrets' | 'isOpen'> {
  const before = startOfLine(text, at).text;
  const column = before.search(BEFORE_FIELD);
  const start = at - before.length;
  const prefix = before.slice(0, column);
  if (/[^\s-]$/.test(prefix)) return { secrets: [] };
  const end = lineEnd(text, at);
  const first = { start, end, text: text.slice(start, end) };
  const isField = SECTION.test(first.text.slice(column)) || SECRET.test(first.text.slice(column));
  if (!isField) return { secrets: [] };
  const secrets: Secret[] = [];
  let isSecret: boolean | undefined;
  let section: string | undefined;
  const fields = new Set<string>();
  let line: Line | undefined = first;
  for (; line !== undefined; line = lineAfter(text, line.end)) {
    const rest = line.text.slice(column);
    const found = SECTION.exec(rest)?.groups;
    // Another object: its fields begin elsewhere, or come again.
    const field = FIELD.exec(rest)?.groups?.name ?? '';
    const isOutside = /^[\s-]*$/.test(prefix) && /\S/.test(line.text.slice(0, column));
    const isNext = isOutside || /^\s*$|^---/.test(rest) || fields.has(field);
    if (line !== first && (isNext || line.end - start > MAX_LENGTH)) break;
    if (/^[\s}]/.test(rest) && section !== undefined) {
      secrets.push(...valueInLine(line, column, section === 'data'));
      continue;
    }
    if (field !== '') fields.add(field);
    section = found?.name;
    if (SECRET.test(rest)) isSecret = true;
    else if (/^["']?kind["']?\s?:/.test(rest)) isSecret ??= false;
  }
  const isOpen = line === undefined && isSecret !== false;
  return { secrets: isSecret === true ? secrets : [], isOpen };
}

/** All that stands after a key, or on a line without one. */
function valueInLine({ start, text }: Line, column: number, isEncoded: boolean): Secret[] {
  const rest = text.slice(column);
  const value = (ENTRY.exec(rest)?.groups?.value ?? rest.trimStart()).trimEnd();
  const bare = value.replace(BARE, '');
  if (/^[|>{}\][,+-]*$/.test(bare) || isNothing(bare) || isReference(bare)) return [];
  const from = start + text.lastIndexOf(bare);
  return [secretOf(bare, { start: from, end: from + bare.length }, isEncoded)];
}

const BARE = new RegExp(`^${Q}|${Q}?,?$`, 'g');

const secretOf = (text: string, { start, end }: Span, isEncoded: boolean): Secret => ({
  start,
  end,
  means:
    isEncoded && /^[A-Za-z0-9+/]+={0,2}$/.test(text)
      ? Buffer.from(text, 'base64').toString('utf8')
      : text,
  certainty: 'possible',
});

const KEY = new RegExp(
  `(?<![-._A-Za-z0-9])[-._A-Za-z0-9]{1,253}${Q}?[\\s\\ue600]{0,8}:[\\s\\ue600]{0,8}`,
  'g',
);
/** A value for each key up to `end`, whatever it looks like. */
function valuesIn(text: string, { start, end, isEncoded }: Values): Secret[] {
  const inside = text.slice(0, end);
  const secrets: Secret[] = [];
  KEY.lastIndex = start;
  while (KEY.test(inside)) {
    const value = valueAt(inside, KEY.lastIndex, 'word');
    // What begins with a brace can contain values.
    if (value === undefined) continue;
    KEY.lastIndex = value.end;
    const own = text.slice(value.start, value.end);
    if (!isNothing(own) && !isReference(own)) secrets.push(secretOf(own, value, isEncoded));
  }
  return secrets;
}
