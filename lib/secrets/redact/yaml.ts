import { type Document, isMap, isScalar, isSeq, type ParsedNode, parseAllDocuments } from 'yaml';

/** A comparison of each key with all others would take the square of their number. */
const PARSING = { prettyErrors: false, logLevel: 'silent', uniqueKeys: false } as const;

const ALIAS = /(?<=^|[\s[{,:-])\*[^\s,[\]{}*'"]/gm;
/** The parser rejects more, but only after it has read the whole document for each of them. */
const MAX_ALIASES = 100;

/** Part of a text, and what replaces it. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly by: unknown;
}

/**
 * The YAML documents with each value as `visit` returns it; everything else stays as it is
 * written, including comments and numbers in other notations. Undefined if the text is not YAML, or
 * if a value was changed that cannot be replaced on its own.
 */
export function yamlWith(text: string, visit: (value: unknown) => unknown): string | undefined {
  if ((text.match(ALIAS) ?? []).length > MAX_ALIASES) return undefined;
  try {
    const documents: Document.Parsed[] = parseAllDocuments(text, PARSING);
    if (documents.some(({ errors }) => errors.length > 0)) return undefined;
    return edited(
      text,
      documents.flatMap((document) => editsOf(document, visit)),
    );
  } catch {
    // Aliases without end.
    return undefined;
  }
}

function editsOf(document: Document.Parsed, visit: (value: unknown) => unknown): Edit[] {
  const before: unknown = document.toJS();
  const edits: Edit[] = [];
  compare(document.contents, before, visit(before), edits);
  return edits;
}

function compare(node: ParsedNode | null, before: unknown, after: unknown, edits: Edit[]): void {
  if (before === after) return;
  if (isScalar(node)) {
    const [start, end] = node.range;
    edits.push({ start, end, by: after });
  } else if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) {
      compare(item, entryOf(before, index), entryOf(after, index), edits);
    }
  } else if (isMap(node)) {
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue;
      const name = String(key.value);
      compare(value, entryOf(before, name), entryOf(after, name), edits);
    }
  }
}

/** Of what a node of the document became: as it is parsed, and as it is redacted. */
function entryOf(value: unknown, key: string | number): unknown {
  return Reflect.get(Object(value), key);
}

/** The edits are in the order of the text, as its nodes are. */
function edited(text: string, edits: readonly Edit[]): string {
  let result = '';
  let kept = 0;
  for (const { start, end, by } of edits) {
    result += text.slice(kept, start) + written(by, text.slice(start, end));
    kept = end;
  }
  return result + text.slice(kept);
}

/** A block stays one, with its indentation, and keeps the line's end after it. */
function written(value: unknown, before: string): string {
  const newline = /\n\s*$/.exec(before)?.[0] ?? '';
  const block = /^(?<header>\|[^\n]*)\n\s*?(?<indent>[ ]+)\S/.exec(before)?.groups;
  if (block === undefined || typeof value !== 'string' || !value.includes('\n')) {
    return JSON.stringify(value) + newline;
  }
  const lines = value.replace(/\n+$/, '').split('\n');
  const indented = lines.map((line) => (line === '' ? '' : `${block.indent}${line}`));
  return [block.header, ...indented].join('\n') + newline;
}
