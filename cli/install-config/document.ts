import { isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments, visit } from 'yaml';
import type { Fault } from './fault.ts';

type Path = readonly PropertyKey[];
type Position = { line: number; column: number };

/** A YAML file with one document, and where each of its fields stands. */
export interface ConfigDocument {
  /** Undefined when the text has no such document. */
  value: unknown;
  faults: Fault[];
  /** Of a value, or of its key; of the nearest parent that exists when the field is missing. */
  positionOf(path: Path, of?: 'key' | 'value'): Position;
}

/**
 * Reads YAML 1.2 with unique keys. Syntax errors come without the source text, which can
 * be a secret; after one there is no value, since half a tree gives misleading faults.
 */
export function readDocument(text: string): ConfigDocument {
  const lines = new LineCounter();
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  // A byte order mark is no column of the first line.
  const parsed = parseAllDocuments(text.replace(/^\uFEFF/, ''), {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
  });
  const documents = Array.isArray(parsed) ? parsed : [];
  const [document, second] = documents;
  const problems = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  const faults = problems.map(({ code, message, pos }) => yamlFault(code, message, at(pos[0])));
  if (second !== undefined) {
    faults.push({
      position: at(second.range?.[0] ?? 0),
      field: 'YAML',
      expected: 'one document',
      found: `${documents.length}`,
      fix: 'Keep one and remove the lines that are only ---.',
    });
  }
  const root = document?.contents ?? null;
  const positionOf = (path: Path, of: 'key' | 'value' = 'value') =>
    at(offsetOf(root, path, of) ?? 0);
  if (document === undefined) return { value: undefined, faults, positionOf };
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return;
      faults.push(yamlFault('BAD_ALIAS', `no anchor for *${alias.source}`, at(start(alias) ?? 0)));
    },
  });
  const readable = second === undefined && faults.every(({ expected }) => expected === UNIQUE);
  if (!readable) return { value: undefined, faults, positionOf };
  try {
    return { value: document.toJS(), faults, positionOf };
  } catch {
    // Thrown for aliases that multiply without end.
    const fault = yamlFault('ALIASES', 'too many aliases', at(0));
    return { value: undefined, faults: [...faults, fault], positionOf };
  }
}

/** What a duplicate key is expected to be: the one YAML fault after which the tree is whole. */
const UNIQUE = 'each key once';

function yamlFault(code: string, message: string, position: Position): Fault {
  return code === 'DUPLICATE_KEY'
    ? {
        position,
        field: 'YAML',
        expected: UNIQUE,
        found: 'this key for the second time',
        fix: 'Remove one of the two.',
      }
    : {
        position,
        field: 'YAML',
        expected: 'valid YAML',
        found: `this: ${message}`,
        fix: 'Check indentation and quotes from here upwards.',
      };
}

/** Descends as far as the path exists; the offset of the last key or list entry met on the way. */
function offsetOf(root: Node | null, path: Path, of: 'key' | 'value'): number | undefined {
  let node: unknown = root;
  let offset = start(root);
  for (const [index, part] of path.entries()) {
    const last = index === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find(
        ({ key }) => isScalar(key) && String(key.value) === String(part),
      );
      if (pair === undefined) return offset;
      const empty = isScalar(pair.value) && pair.value.value === null;
      offset = start(pair.key) ?? offset;
      if (last && of === 'value' && !empty) return start(pair.value) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      offset = start(node) ?? offset;
    } else {
      return offset;
    }
  }
  return offset;
}

function start(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node)) return undefined;
  const range = node.range;
  return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : undefined;
}
