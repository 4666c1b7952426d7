import { COLLECTION_STYLE, EVENT_ID, type Event, SCALAR_STYLE, type ScalarEvent } from 'js-yaml';
import { GoYamlFault } from './fault.ts';
import type { ScalarNode, YamlNode } from './nodes.ts';
import type { Parsed } from './parse.ts';
import { refuseTabs } from './tabs.ts';

/** Outside of these, go-yaml's reader refuses the text. */
const UNPRINTABLE = /[^\t\n\r\x20-\x7e\x85\xa0-\ufffd\u{10000}-\u{10ffff}]|\p{Surrogate}/u;

/** @throws GoYamlFault for a character that no text may have */
export function refuseUnprintable(text: string): void {
  const at = text.search(UNPRINTABLE);
  if (at >= 0) throw new GoYamlFault('a control character is not allowed in YAML', at);
}

/**
 * Refuses what YAML 1.2 accepts and go-yaml does not, or reads differently.
 *
 * @throws GoYamlFault
 */
export function refuseForeign({ text, events }: Parsed, documents: readonly YamlNode[]): void {
  refuseDirectives(text, events);
  refuseTabs(text, events);
  let flows = 0;
  const open: boolean[] = [];
  let separators = 0;
  for (const event of events) {
    if (event.type === EVENT_ID.POP) flows -= Number(open.pop());
    else if (event.type === EVENT_ID.SCALAR) {
      refuseAnchor(text, event);
      refuseTag(text, event);
      separators += quotedSeparators(text, event);
      if (event.style === SCALAR_STYLE.DOUBLE_QUOTED) refuseEscapes(text, event);
      if (event.style === SCALAR_STYLE.PLAIN && flows > 0) refusePlain(text, event);
      if (event.style >= SCALAR_STYLE.LITERAL_BLOCK) refuseBlock(text, event);
    } else if (event.type !== EVENT_ID.ALIAS) {
      const isFlow = event.type !== EVENT_ID.DOCUMENT && event.style === COLLECTION_STYLE.FLOW;
      open.push(isFlow);
      flows += Number(isFlow);
      if (event.type !== EVENT_ID.DOCUMENT) {
        refuseAnchor(text, event);
        refuseTag(text, event);
      }
    }
  }
  const found = [...text.matchAll(/[\u2028\u2029]/g)];
  if (found.length !== separators) {
    throw new GoYamlFault(
      'U+2028 and U+2029 are line breaks; write \\L or \\P in double quotes',
      found[0]?.index ?? 0,
    );
  }
  for (const document of documents) refuseKeys(text, document);
}

function refuseDirectives(text: string, events: readonly Event[]): void {
  for (const event of events) {
    if (event.type !== EVENT_ID.DOCUMENT) continue;
    const version = event.directives.find((directive) => directive.kind === 'yaml');
    if (version?.kind === 'yaml' && version.version !== '1.1') {
      throw new GoYamlFault('%YAML must be 1.1, or be left out', 0);
    }
  }
  const other = /^(?:[ \t]*(?:#.*)?\r?\n|%(?:YAML|TAG)[ \t].*\n)*%(?!(?:YAML|TAG)[ \t])/.exec(text);
  if (other !== null) throw new GoYamlFault('an unknown directive', other[0].length - 1);
}

function refuseAnchor(text: string, event: { anchorStart: number; anchorEnd: number }): void {
  const { anchorStart, anchorEnd } = event;
  if (anchorStart >= 0 && !/^[\w-]+$/.test(text.slice(anchorStart, anchorEnd))) {
    throw new GoYamlFault('an anchor has letters, digits, _ and - only', anchorStart);
  }
}

/** Without `!` alone, a handle and a suffix, or a whole tag in angle brackets (go-yaml, yaml_parser_scan_tag_uri). */
const TAG = /^!(?:<[^>]+>|(?:[\w-]*!)?[\w;/?:@&=+$.~*'()%-]+)?$/;

function refuseTag(text: string, { tagStart, tagEnd }: { tagStart: number; tagEnd: number }): void {
  if (tagStart < 0) return;
  const isAlone = /^\s?$/.test(text.slice(tagEnd, tagEnd + 1));
  if (isAlone && TAG.test(text.slice(tagStart, tagEnd))) return;
  throw new GoYamlFault('a tag is ! and a name, and a blank follows it', tagStart);
}

/** Separators that only are characters of the text, since no blanks are cut off beside them. */
function quotedSeparators(text: string, { style, valueStart, valueEnd }: ScalarEvent): number {
  const isQuoted = style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED;
  if (!isQuoted) return 0;
  const value = text.slice(valueStart, valueEnd);
  return value.match(/(?<!\s)[\u2028\u2029](?!\s)/g)?.length ?? 0;
}

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|[\s\S])/g;

function refuseEscapes(text: string, { valueStart, valueEnd }: ScalarEvent): void {
  for (const match of text.slice(valueStart, valueEnd).matchAll(ESCAPE)) {
    const [written, short, long] = match;
    const code = Number.parseInt(short ?? long ?? '0', 16);
    if (written === '\\/' || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) {
      throw new GoYamlFault(`the escape ${written} is unknown`, valueStart + match.index);
    }
    // The parser would drop the empty lines, which are line breaks of the text.
    if (/^\\(?:\r?\n|\r)[ \t]*[\r\n]/.test(text.slice(valueStart + match.index, valueEnd))) {
      throw new GoYamlFault(
        'no empty line may follow a \\ at the end of a line; write \\n',
        valueStart + match.index,
      );
    }
  }
}

/** Where no number says so, the first line tells the indentation, in blanks only. It is never none. */
function refuseBlock(text: string, { valueStart, valueEnd, indent }: ScalarEvent): void {
  if (indent === 0 && valueEnd > valueStart) {
    throw new GoYamlFault('a text block must be indented', valueStart);
  }
  const tab = /^(?: *\r?\n)* *\t/.exec(text.slice(valueStart, valueEnd));
  if (tab === null) return;
  const header = text.slice(text.lastIndexOf('\n', valueStart - 2) + 1, valueStart);
  if (!/[|>][-+]?[1-9][-+]?(?:\s+#.*)?\s*$/.test(header)) {
    throw new GoYamlFault('a tab is no indentation', valueStart + tab[0].length - 1);
  }
}

/** In brackets, go-yaml reads `?`, a colon before the text and one at its end as signs or as text, unlike YAML 1.2. */
function refusePlain(text: string, { valueStart, valueEnd }: ScalarEvent): void {
  const value = valueStart < 0 ? '' : text.slice(valueStart, valueEnd);
  const isAmbiguous = /^:|\?/.test(value) || /^:[,[\]{}]/.test(text.slice(valueEnd, valueEnd + 2));
  if (value !== '' && isAmbiguous) {
    throw new GoYamlFault('text with ? or : in brackets must be quoted', valueStart);
  }
}

/** A key without `?` is on one line with its colon, which comes after so many characters at most. */
const MAX_KEY = 1024;

function refuseKeys(text: string, node: YamlNode): void {
  if (node.kind === 'sequence') for (const item of node.items) refuseKeys(text, item);
  if (node.kind !== 'mapping') return;
  for (const [key, value] of node.pairs) {
    const isBlock = !node.isFlow && value.kind === 'mapping' && !value.isFlow;
    if (isBlock && /^[^\r\n]+$/.test(text.slice(key.offset, value.start))) {
      throw new GoYamlFault('a map begins on the line of its key', value.offset);
    }
    if (key.kind === 'scalar' && key.style !== 'block') refuseKey(text, key);
    refuseKeys(text, key);
    refuseKeys(text, value);
  }
}

const COLON = /\s*(?:#.*\s*)*:/y;

function refuseKey(text: string, { offset, end }: ScalarNode): void {
  COLON.lastIndex = end;
  const isExplicit = /\?\s+$/.test(text.slice(Math.max(0, offset - 64), offset));
  if (isExplicit || !COLON.test(text)) return;
  const written = text.slice(offset, COLON.lastIndex - 1);
  if (/[\r\n]/.test(written)) {
    throw new GoYamlFault('a key and its colon must be on one line', offset);
  }
  if (Array.from(written).length > MAX_KEY) {
    throw new GoYamlFault(`a key has more than ${MAX_KEY} characters`, offset);
  }
}
