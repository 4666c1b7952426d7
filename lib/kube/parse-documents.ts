import {
  type Document,
  type DocumentOptions,
  LineCounter,
  type ParseOptions,
  parseAllDocuments,
  type SchemaOptions,
} from 'yaml';

type Options = Omit<ParseOptions & DocumentOptions & SchemaOptions, 'lineCounter'>;

/** The documents of a YAML text, and the lines of its offsets. */
export interface ParsedDocuments {
  readonly documents: readonly Document.Parsed[];
  readonly lines: LineCounter;
}

/** No file of people has so many; each costs a pass over the text. */
const MAX_REPAIRS = 100;

/**
 * Parses as the API's own decoder does (go-yaml) where the parser is stricter: in quotes, lines
 * after the first may be indented by less than YAML demands. OpenShift's own manifests have such.
 * Their indentation has no meaning, so they are indented and the text is parsed again.
 */
export function parseDocuments(text: string, options: Options): ParsedDocuments {
  let current = text;
  let after = -1;
  for (let repairs = 0; ; repairs++) {
    const lines = new LineCounter();
    const documents = parseAllDocuments(current, { ...options, lineCounter: lines });
    const parsed = { documents: Array.isArray(documents) ? documents : [], lines };
    const cut = cutQuote(current, parsed.documents);
    // An error at the same place again: the quote is not closed.
    if (cut === undefined || cut.at <= after || repairs === MAX_REPAIRS) return parsed;
    after = cut.at;
    current = indented(current, cut);
  }
}

interface CutQuote {
  readonly quote: string;
  /** Offset of the end of the line at which the parser ended the quoted text. */
  readonly at: number;
}

function cutQuote(text: string, documents: readonly Document.Parsed[]): CutQuote | undefined {
  for (const { errors } of documents) {
    const [error] = errors;
    const quote = /^Missing closing (['"])quote/.exec(error?.message ?? '')?.[1];
    if (error === undefined) continue;
    const [at] = error.pos;
    return quote !== undefined && /[\r\n]/.test(text[at] ?? '') ? { quote, at } : undefined;
  }
  return undefined;
}

/** The end of a document is none of the quoted lines. */
const documentMark = /\n(?:---|\.\.\.)(?:\s|$)/;

/** Indents the lines from there to the closing quote; unchanged if there is none before the document's end. */
function indented(text: string, { quote, at }: CutQuote): string {
  const quoted = quote === "'" ? /(?:''|[^'])*/y : /(?:\\[\s\S]|[^"\\])*/y;
  quoted.lastIndex = at;
  const [rest = ''] = quoted.exec(text) ?? [];
  if (documentMark.test(rest)) return text;
  // Deeper than anything that can begin on the line before, which the parser has accepted.
  const indent = ' '.repeat(text.slice(0, at).trimEnd().length - lineBegin(text, at));
  return text.slice(0, at) + rest.replaceAll('\n', `\n${indent}`) + text.slice(at + rest.length);
}

/** Of the last line that is not empty. */
function lineBegin(text: string, at: number): number {
  return text.lastIndexOf('\n', text.slice(0, at).trimEnd().length - 1) + 1;
}
