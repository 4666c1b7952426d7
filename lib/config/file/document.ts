import { type Document, isScalar, LineCounter, parseAllDocuments, type ScalarTag } from 'yaml';
import { type Fault, fieldName } from './fault.ts';
import { syntaxFaults } from './syntax-fault.ts';
import { type ConfigEntry, type ConfigTree, readTree, startOf, type TreeFault } from './tree.ts';

type Path = readonly PropertyKey[];
type Position = { line: number; column: number };
type PositionAt = (offset: number) => Position;

/** A YAML file with one document, and the position of each of its fields. */
export interface ConfigDocument {
  /** Undefined if the text has no such document. */
  value: unknown;
  faults: Fault[];
  /** Of a value, or of its key; of the nearest existing parent if the field is missing. */
  positionOf(path: Path, of?: 'key' | 'value'): Position;
  /** The source text of a field whose value looks different, such as `no` for false. */
  writtenAt(path: Path): string | undefined;
}

/** The installer's parser (sigs.k8s.io/yaml) also accepts these words of YAML 1.1. */
const BOOLEAN: ScalarTag = {
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  identify: (value) => typeof value === 'boolean',
  test: /^(y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF)$/,
  resolve: (text) => /^[yY]|^[oO][nN]/.test(text),
};

/**
 * Reads YAML with unique keys, in time proportional to its length. Syntax errors
 * come without the source text, which can be a secret; after one there is no value,
 * since half a tree gives misleading faults.
 */
export function readDocument(text: string): ConfigDocument {
  // A byte order mark does not count as a column of the first line.
  const source = text.replace(/^\uFEFF/, '');
  const control = source.search(NOT_YAML);
  if (control >= 0) return unreadable([controlFault(source, control)]);
  const lines = new LineCounter();
  const at: PositionAt = (offset) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const parsed = parseAllDocuments(source, {
    lineCounter: lines,
    prettyErrors: false,
    // The parser would compare all pairs of keys; readTree finds duplicates directly.
    uniqueKeys: false,
    schema: 'core',
    resolveKnownTags: false,
    customTags: (tags) => [...tags, BOOLEAN],
  });
  const documents = withoutEmptyEnd(Array.isArray(parsed) ? parsed : []);
  const errors = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  const faults = syntaxFaults(errors, source, at);
  const [document, second] = documents;
  if (second !== undefined) {
    const found = `${documents.length}`;
    const fix = 'Keep one and remove the lines that are only ---.';
    const position = at(second.range?.[0] ?? 0);
    faults.push({ position, field: 'YAML', expected: 'one document', found, fix });
  }
  if (document === undefined || faults.length > 0) return unreadable(faults);
  return ofTree(readTree(document.contents), startOf(document.contents), at);
}

/** A line `---` at the end begins a document, in which there is nothing. */
function withoutEmptyEnd<Each extends Pick<Document, 'contents'>>(documents: readonly Each[]) {
  const last = documents.findLastIndex(
    ({ contents }) => contents !== null && !(isScalar(contents) && contents.source === ''),
  );
  return documents.slice(0, Math.max(last + 1, 1));
}

const unreadable = (faults: Fault[]): ConfigDocument => ({
  value: undefined,
  faults,
  positionOf: () => ({ line: 1, column: 1 }),
  writtenAt: () => undefined,
});

function ofTree(tree: ConfigTree, start: number, at: PositionAt): ConfigDocument {
  const isReadable = !tree.faults.some(({ isFatal }) => isFatal);
  return {
    value: isReadable ? tree.value : undefined,
    faults: tree.faults.map((fault) => treeFault(fault, at)),
    positionOf: (path, of = 'value') => {
      const way = wayTo(path, tree);
      const last = way.at(-1);
      if (last === undefined) return at(start);
      const isWhole = way.length === path.length && of === 'value';
      return at((isWhole ? last.value : undefined) ?? last.key);
    },
    writtenAt: (path) => wayTo(path, tree)[path.length - 1]?.written,
  };
}

/** The entries from the root to a field, as far as they exist. */
function wayTo(path: Path, { value, places }: ConfigTree): ConfigEntry[] {
  const way: ConfigEntry[] = [];
  let inside = value;
  for (const part of path) {
    if (typeof inside !== 'object' || inside === null) break;
    const entry = places.get(inside)?.get(String(part));
    if (entry === undefined) break;
    way.push(entry);
    inside = Reflect.get(inside, part);
  }
  return way;
}

/**
 * Control characters except line breaks and tabs; other parsers refuse them too
 * (YAML 1.2, 5.1).
 */
const NOT_YAML = /(?![\t\n\r\x85])[\p{Cc}\ufffe\uffff]/u;

function controlFault(text: string, offset: number): Fault {
  const before = text.slice(0, offset).split('\n');
  const code = (text.codePointAt(offset) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return {
    position: { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 },
    field: 'YAML',
    expected: 'text without control characters',
    found: `U+${code}`,
    fix: 'Remove it, or save the file as UTF-8 if it is in another encoding.',
  };
}

function treeFault({ offset, path, expected, found, fix }: TreeFault, at: PositionAt): Fault {
  const field = path === undefined || path.length === 0 ? 'YAML' : fieldName(path);
  return { position: at(offset), field, expected, found, fix };
}
