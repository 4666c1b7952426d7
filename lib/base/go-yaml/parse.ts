import { type Event, parseEvents, YAMLException } from 'js-yaml';
import { GoYamlFault } from './fault.ts';

/** Deeper than anything that the API accepts, and less than overflows the stack. */
const MAX_DEPTH = 1000;

export interface Parsed {
  /** With the same lines as the text that was parsed; the events refer to this one. */
  readonly text: string;
  readonly events: readonly Event[];
}

/** @throws GoYamlFault where the text is no YAML */
export function parseText(text: string): Parsed {
  try {
    return { text, events: parseEvents(text, { maxDepth: MAX_DEPTH }) };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const isDeep = error.reason.startsWith('nesting exceeded');
    throw new GoYamlFault(
      isDeep ? 'is nested too deeply' : error.reason,
      error.mark?.position ?? 0,
    );
  }
}

/** Characters that may be parsed again and again; each repair costs one pass over the document. */
const MAX_REPARSED = 64 * 1024 * 1024;

/**
 * Parses what go-yaml accepts and YAML 1.2 does not: lines of quotes and of flow collections that are
 * indented by too little or by tabs, a comment without a blank before it, a dash alone in brackets, and `\'`
 * in double quotes.
 * Kubernetes' and OpenShift's own manifests have such. Where the parser stops for one of these, it is
 * written as the parser demands, which changes no value, and the text is parsed again.
 *
 * @throws GoYamlFault where the text is no YAML for go-yaml either
 */
export function parseLeniently(original: string): Parsed {
  let text = original;
  let left = MAX_REPARSED;
  let indentation: { readonly line: number; readonly width: number } | undefined;
  for (;;) {
    try {
      return parseText(text);
    } catch (error) {
      if (!(error instanceof GoYamlFault)) throw error;
      // Each pass costs something, however short the text.
      left -= text.length + 1000;
      const line = lineAt(text, error.offset);
      // Wider where the line that was indented last has too little still.
      const width = indentation?.line === line ? indentation.width * 8 : 8;
      const repaired =
        error.message === TOO_LITTLE
          ? indented(text, error.offset, ' '.repeat(Math.min(width, text.length)))
          : rewritten(text, error);
      if (repaired === undefined || left < 0) throw error;
      if (error.message === TOO_LITTLE) indentation = { line, width };
      text = repaired;
    }
  }
}

/** What the parser says of a line in quotes or brackets. */
const TOO_LITTLE = 'deficient indentation';

function rewritten(text: string, { message, offset }: GoYamlFault): string | undefined {
  const before = text[offset - 1] ?? ' ';
  if (message === 'unknown escape sequence') {
    return text[offset] === "'" ? text.slice(0, offset - 1) + text.slice(offset) : undefined;
  }
  // A dash alone in brackets is text, but not beside a quote or before a blank.
  const isDash = /^-[,\]}]/.test(text.slice(offset, offset + 2)) && /[\s,[{]/.test(before);
  if (message.startsWith('missed comma') && isDash) {
    return `${text.slice(0, offset)}'-'${text.slice(offset + 1)}`;
  }
  if (text[offset] === '#' && !/\s/.test(before)) {
    return `${text.slice(0, offset)} ${text.slice(offset)}`;
  }
  return undefined;
}

/** Ends a document, and a quote or collection with it, which no indentation may hide. */
const DOCUMENT_MARK = /^(?:---|\.\.\.)(?:\s|$)/m;

/** Indents the line and those after it that are certainly part of the same quote or collection. */
function indented(text: string, offset: number, indent: string): string | undefined {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const end = endOfContext(text, start);
  if (end === undefined) return withoutTabs(text, offset);
  const inside = indent + text.slice(start, end).replaceAll(/\n(?!\r?\n)/g, `\n${indent}`);
  return DOCUMENT_MARK.test(text.slice(start, end))
    ? undefined
    : text.slice(0, start) + inside + text.slice(end);
}

/**
 * On the line on which a collection begins, the parser takes a tab inside, or before its bracket, for indentation. Behind a
 * dash of a list it is none for go-yaml either.
 */
function withoutTabs(text: string, offset: number): string | undefined {
  let begin = offset;
  while (begin > 0 && ' \t[{'.includes(text.charAt(begin - 1))) begin--;
  const signs = text.slice(begin, offset);
  const isBehindDash = /[-?]/.test(text.charAt(begin - 1)) && /^ *\t/.test(signs);
  if (isBehindDash || !signs.includes('\t')) return undefined;
  return text.slice(0, begin) + signs.replaceAll('\t', ' ') + text.slice(offset);
}

/** What the parser says at the end of the text before the line tells what the line is in. */
function endOfContext(text: string, start: number): number | undefined {
  // With blanks at the end, since a comment may be the last line.
  const context = contextAtEnd(text.slice(0, start).padEnd(2 * start + 1));
  const closing = { single: /(?:[^']+|'')*/y, double: /(?:[^"\\]+|\\[\s\S])*/y, flow: /[^\]}]*/y };
  if (context === undefined) return undefined;
  const pattern = closing[context];
  pattern.lastIndex = start;
  pattern.exec(text);
  return pattern.lastIndex;
}

function contextAtEnd(text: string): 'single' | 'double' | 'flow' | undefined {
  try {
    parseText(text);
  } catch (error) {
    if (!(error instanceof GoYamlFault)) throw error;
    if (error.message.endsWith('within a single quoted scalar')) return 'single';
    if (error.message.endsWith('within a double quoted scalar')) return 'double';
    if (error.message.endsWith('within a flow collection')) return 'flow';
  }
  return undefined;
}

/** The line of an offset, from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}
