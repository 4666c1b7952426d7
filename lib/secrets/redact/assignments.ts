import {
  type Below,
  isBlock,
  isEmpty,
  lineAfter,
  lineEnd,
  linesBelow,
  wordsBelow,
} from './below.ts';
import { isSecretValue, NAME_TRIGGERS, type Sensitivity, sensitivityOf } from './names.ts';
import { isProse, type LineStart, type Position, positionOf, startOfLine } from './prose.ts';
import type { RuleFindings, SecretRule, Span } from './rule.ts';
import { type Separator, separatorAfter } from './separators.ts';
import { type Value, type ValueExtent, valuesAt } from './value-extent.ts';
import {
  isCode,
  isLikely,
  isPassword,
  isPath,
  isReference,
  looksLikeSecret,
  looksRandom,
  UUID,
} from './values.ts';

/** What is assigned to a name, in every notation that programs use. */
export const ASSIGNMENTS: SecretRule = { triggers: NAME_TRIGGERS, inText: assignedAt };

type Judged = Pick<RuleFindings, 'secrets' | 'isOpen'>;

interface Name extends Span {
  readonly text: string;
  readonly sensitivity: Sensitivity;
}

/** A name in a text, and what is known of its place. */
interface Place {
  readonly text: string;
  readonly name: Name;
  readonly line: LineStart;
  readonly position: Position;
}

const MAX_NAME = 256;
/** Names of two words. */
const WORD_BEFORE =
  /(?:api|access|secret|private|master|encryption|shared|unseal|recovery|certificate|license|activation|account|mot de|root|session)[ ]$/i;

function assignedAt(text: string, at: number, length: number): RuleFindings {
  const name = nameAround(text, at, length);
  if (name.sensitivity === 'never') return { next: name.end, secrets: [] };
  const line = startOfLine(text, name.start);
  const place = { text, name, line, position: positionOf(line) };
  const found = assigned(place);
  return { ...found, next: Math.max(name.end, found.secrets.at(-1)?.end ?? 0) };
}

function assigned(place: Place): Judged {
  const { text, name, line, position } = place;
  const separator = separatorAfter(text, name.end, {
    name: name.text,
    before: line.text,
    isFirst: position === 'first',
  });
  if (separator === undefined) return { secrets: [] };
  if (separator.value !== undefined)
    return judged(place, { values: [separator.value], isOpen: false });
  return below(place, separator) ?? inLine(place, separator);
}

const isInName = (char: string) => /[\w.-]/.test(char);

function nameAround(text: string, at: number, length: number): Name {
  let start = at;
  // What stands before the name can be a part of what was found.
  while (start < at + length && !isInName(text.charAt(start))) start++;
  let end = start;
  const floor = Math.max(0, start - MAX_NAME);
  while (start > floor && isInName(text.charAt(start - 1))) start--;
  while (end - start < 2 * MAX_NAME && isInName(text.charAt(end))) end++;
  const shell = text.startsWith('${', start - 2) ? text.slice(start, end).search(/[^\w]/) : -1;
  if (shell !== -1) end = start + shell;
  // Of an arrow; the end of a sentence.
  while (end > start && /[-.]/.test(text.charAt(end - 1))) end--;
  const own = text.slice(start, end);
  const before = /^(?:key|token|passe)s?$/i.test(own)
    ? WORD_BEFORE.exec(text.slice(Math.max(0, start - 16), start))?.[0]
    : undefined;
  // Of two words, which a sentence can have too.
  const sensitivity = before === undefined ? sensitivityOf(own) : 'by-value';
  return { start, end, text: own, sensitivity };
}

/** The values in lines below the name. */
function below(place: Place, { end, by }: Separator): Judged | undefined {
  const { text, name, line, position } = place;
  if (by === 'below' && isBlock(text, end)) {
    const before = startOfLine(text, end).text.replace(/\w+\W*$/, '');
    return judged(place, linesBelow(text, { end: lineEnd(text, end), before }, { isAny: true }));
  }
  if (by !== 'colon') return undefined;
  const isBlockOf = isBlock(text, end);
  if (!isBlockOf && !isEmpty(text, end)) return undefined;
  const at = { end: lineEnd(text, end), before: line.indent };
  if (isBlockOf) return judged(place, linesBelow(text, at, { isAny: true }));
  // A name in quotes, or in a text of several lines that is quoted, rather than in the quotes of a command.
  const isLine = line.quote === text[name.end] || text[at.end] !== '\n';
  if (position === 'first' || (position === 'quoted' && isLine)) {
    const lines = judged(place, linesBelow(text, at, { isAny: false }));
    if (lines.secrets.length > 0 || lines.isOpen === true) return lines;
  }
  return judged(place, wordsBelow(text, at.end));
}

function judged({ name, text }: Pick<Place, 'text' | 'name'>, found: Below): Judged {
  const values = found.values.flatMap((value) => linesOf(text, value));
  const secrets = values.filter(({ start, end }) =>
    isSecretValue(name.text, text.slice(start, end), name.sensitivity),
  );
  return { secrets, isOpen: found.isOpen };
}

/** A value without quotes goes to the line's end where a line begins with its name, as in files of settings. */
function extentOf({ name, line, position }: Place, { by }: Separator): ValueExtent {
  if (by === 'below') return 'line';
  if (name.sensitivity !== 'always' || name.text.startsWith('-')) return 'word';
  if (by === 'column') return 'line';
  if (by !== 'colon' && by !== 'equals') return 'word';
  if (position !== 'elsewhere') return position === 'first' ? 'line' : 'quoted';
  // A passphrase in a quoted text has more words than one.
  const isPhrase = /(?:passphrase|psk)$/i.test(name.text) && line.text.split('"').length % 2 === 0;
  return isPhrase ? 'quoted' : 'word';
}

function inLine(place: Place, separator: Separator): Judged {
  const { text, line } = place;
  const extent = extentOf(place, separator);
  const values = valuesAt(text, separator.end, { extent, quote: line.quote });
  // A file of settings has no sentences.
  const canBeProse = (separator.by !== 'equals' && separator.by !== 'below') || extent === 'word';
  const secrets = values.flatMap((value) => secretIn(place, separator, value, canBeProse));
  if (separator.by !== 'below') return { secrets };
  const last = lineEnd(text, values.at(-1)?.end ?? separator.end);
  return { secrets, isOpen: lineAfter(text, last) === undefined };
}

function secretIn(
  { text, name }: Pick<Place, 'text' | 'name'>,
  { by }: Separator,
  value: Value,
  canBeProse: boolean,
): Span[] {
  const own = text.slice(value.start, value.end);
  if (by === 'near' && !isBeside(name, own)) return [];
  if (by === 'stated' && !isMade(name, own)) return [];
  if (!isSecretValue(name.text, own, name.sensitivity)) return [];
  if (!value.isQuoted && ((canBeProse && isProse(text, value)) || isElsewhere(own))) return [];
  return [value];
}

/** The lines of a value, without the blanks around them. */
const linesOf = (text: string, { start, end }: Span): Span[] =>
  [...text.slice(start, end).matchAll(/\S(?:[^\n]*\S)?/g)].map(({ index, 0: line }) => ({
    start: start + index,
    end: start + index + line.length,
  }));

/** Whether it is code, or the first of several words says where the value comes from. */
function isElsewhere(value: string): boolean {
  const word = /^\S{1,512}(?=\s)/.exec(value)?.[0];
  return isCode(value) || (word !== undefined && (isPath(word) || isReference(word)));
}

/** In a sentence. */
const isMade = ({ sensitivity }: Name, value: string) =>
  looksLikeSecret(value) || (sensitivity === 'always' && /\d/.test(value) && /[a-z]/i.test(value));

/** The next word, if it is nothing that has a name: no path, version, digest, address or object. */
function isBeside({ text, sensitivity }: Name, value: string): boolean {
  // Of a compiler, a build.
  if (/^pass$/i.test(text)) return false;
  if (isPassword(value)) return true;
  if (!/^[A-Za-z0-9+/_~-]{8,128}={0,2}$/.test(value) || !/\d/.test(value)) return false;
  if (/^[a-z0-9]+(?:-[a-z0-9]+)+$|^[A-Z0-9_-]+$|\/.*\/.*\//.test(value)) {
    return sensitivity === 'always' && UUID.test(value);
  }
  const isWord = /^[A-Za-z0-9]{8,}$/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value);
  return looksRandom(value) || (sensitivity === 'always' && (isWord || isLikely(value)));
}
