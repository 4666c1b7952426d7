import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar } from 'yaml';
import { isRecord } from '../../base/json.ts';
import { blankBeside, MOST_LEVELS } from './syntax-fault.ts';

type Path = readonly (string | number)[];

/** Where a field is, as offsets into the text. */
export interface ConfigEntry {
  /** Of the key, or of the list item. */
  key: number;
  /** Absent if there is none. */
  value?: number;
  /** The source text of a value that is not a string and looks different: `no`, `0777`. */
  written?: string;
}

/** Something that YAML permits and a configuration does not. */
export interface TreeFault {
  offset: number;
  /** Absent if the fault does not concern a field. */
  path?: Path;
  expected: string;
  found: string;
  fix: string;
  /** The values are unusable. */
  isFatal: boolean;
}

export interface ConfigTree {
  value: unknown;
  /** The entries of each mapping and list in `value`, by key or index. */
  places: WeakMap<object, ReadonlyMap<string, ConfigEntry>>;
  faults: TreeFault[];
}

/**
 * Far more than a real file has. Aliases count as their targets, so that a few
 * cannot expand to millions.
 */
const MOST_VALUES = 50_000;

/** The values of a YAML document, in time proportional to its size. */
export function readTree(root: Node | null): ConfigTree {
  const reader = new TreeReader();
  const { value } = reader.read(root, []);
  return { value, places: reader.places, faults: reader.faults };
}

interface Read {
  value: unknown;
  /** The number of values in it. */
  size: number;
}

const NOTHING: Read = { value: undefined, size: 0 };

class TreeReader {
  readonly places = new WeakMap<object, ReadonlyMap<string, ConfigEntry>>();
  readonly faults: TreeFault[] = [];
  /** `undefined` while the value is being read: an alias inside of it would be infinite. */
  readonly #anchors = new Map<string, Read | undefined>();
  #values = 0;
  #stopped = false;

  read(node: unknown, path: Path): Read {
    if (this.#stopped) return NOTHING;
    if (path.length > MOST_LEVELS) {
      return this.#stop(node, `at most ${MOST_LEVELS} levels of nesting`, 'more', 'Remove some.');
    }
    if (isAlias(node)) return this.#alias(node.source, node);
    if (!this.#count(1, node)) return NOTHING;
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchors.set(anchor, undefined);
    const read = this.#contents(node, path);
    if (anchor !== undefined) this.#anchors.set(anchor, read);
    return read;
  }

  #contents(node: unknown, path: Path): Read {
    const before = this.#values;
    if (isMap(node)) {
      const value = this.#mapping(node.items, path, startOf(node));
      return { value, size: 1 + this.#values - before };
    }
    if (isSeq(node)) {
      const value = this.#list(node.items, path);
      return { value, size: 1 + this.#values - before };
    }
    return { value: isScalar(node) ? this.#scalar(node, path) : null, size: 1 };
  }

  #mapping(pairs: readonly Pair[], path: Path, start: number): Record<string, unknown> {
    const value: Record<string, unknown> = {};
    const entries = new Map<string, ConfigEntry>();
    const merged: unknown[] = [];
    for (const pair of pairs) {
      if (isMergeKey(pair.key)) {
        merged.push(...this.#merged(pair.value, path));
        continue;
      }
      const key = this.#key(pair.key, path, start);
      if (key === undefined) continue;
      const offset = startOf(pair.key);
      if (entries.has(key)) {
        this.#fault(offset, undefined, 'each key once', 'this key again', 'Remove one of the two.');
        continue;
      }
      value[key] = this.read(pair.value, [...path, key]).value;
      entries.set(key, entryOf(pair.value, offset));
    }
    for (const source of merged) this.#mergeInto(value, entries, source);
    this.places.set(value, entries);
    return value;
  }

  #list(items: readonly unknown[], path: Path): unknown[] {
    const entries = items.map((item, index) => [`${index}`, entryOf(item, startOf(item))] as const);
    const value = items.map((item, index) => this.read(item, [...path, index]).value);
    this.places.set(value, new Map(entries));
    return value;
  }

  /** The key as text: like the installer's parser, accepts a number or a boolean. */
  #key(key: unknown, path: Path, start: number): string | undefined {
    const offset = startOf(key) || start;
    const target = isAlias(key) ? this.#alias(key.source, key).value : key;
    const text = isScalar(target) ? (target.source ?? target.value) : target;
    if (isScalar(key) && typeof key.value === 'string' && key.anchor !== undefined) {
      this.#anchors.set(key.anchor, { value: key.value, size: 1 });
    }
    const fix = 'Write the name of a field before the colon.';
    const blank = isScalar(key) && key.type === 'PLAIN' ? blankBeside(`${text}`) : undefined;
    if (blank !== undefined) {
      // Once: as many lines have them, and none of these fields is where it was meant to be.
      const again = 'Type them again, in every line: word processors and web pages have others.';
      this.#stop(key, 'the blanks of a keyboard around the name of a field', blank, again);
    } else if (isScalar(target) && target.value === null) {
      this.#fault(offset, path, 'a string as key', 'a key without a name', fix);
    } else if (typeof text !== 'string') {
      this.#fault(offset, path, 'a string as key', 'a list or mapping as key', fix);
    } else if (text === '__proto__') {
      this.#fault(offset, path, 'a known field', 'the key __proto__', 'Remove it.');
    } else {
      return text;
    }
    return undefined;
  }

  #scalar(scalar: Scalar, path: Path): unknown {
    const { value, source } = scalar;
    if (typeof value === 'number' && source !== undefined && /^[-+]?0\d/.test(source)) {
      const found = `${source}, which some programs read as octal`;
      const fix = 'Omit the leading zeros, or put it in quotes if it is a string.';
      this.#fault(startOf(scalar), path, 'a number without leading zeros', found, fix);
    }
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value;
    return source ?? '';
  }

  #alias(name: string, node: unknown): Read {
    const found = `no anchor for *${name}`;
    const fix = 'Define the anchor before its first use, and not around it.';
    const read = this.#anchors.get(name);
    if (read === undefined) return this.#stop(node, 'an alias of an anchor above', found, fix);
    return this.#count(read.size, node) ? read : NOTHING;
  }

  /** The mappings that `<<` merges. */
  #merged(node: unknown, path: Path): unknown[] {
    const { value } = this.read(node, path);
    const sources = Array.isArray(value) ? value : [value];
    if (sources.every(isRecord) || this.#stopped) return sources;
    const found = 'something else after <<';
    const fix = 'Write <<: and the alias of a mapping.';
    this.#fault(startOf(node), path, 'a mapping to merge, or a list of mappings', found, fix);
    return [];
  }

  /** Keys of the mapping itself take precedence, then those of earlier sources. */
  #mergeInto(
    value: Record<string, unknown>,
    entries: Map<string, ConfigEntry>,
    source: unknown,
  ): void {
    if (!isRecord(source)) return;
    for (const [key, entry] of this.places.get(source) ?? []) {
      if (entries.has(key)) continue;
      value[key] = source[key];
      entries.set(key, entry);
    }
  }

  #count(size: number, node: unknown): boolean {
    this.#values += size;
    if (this.#values <= MOST_VALUES) return true;
    this.#stop(
      node,
      `at most ${MOST_VALUES} values, with aliases expanded`,
      'more',
      'Remove some.',
    );
    return false;
  }

  #stop(node: unknown, expected: string, found: string, fix: string): Read {
    if (!this.#stopped) {
      this.faults.push({ offset: startOf(node), expected, found, fix, isFatal: true });
    }
    this.#stopped = true;
    return NOTHING;
  }

  #fault(
    offset: number,
    path: Path | undefined,
    expected: string,
    found: string,
    fix: string,
  ): void {
    const place = path === undefined ? {} : { path };
    this.faults.push({ offset, ...place, expected, found, fix, isFatal: false });
  }
}

const isMergeKey = (key: unknown) =>
  isScalar(key) && key.type === 'PLAIN' && key.value === '<<' && key.anchor === undefined;

function entryOf(node: unknown, key: number): ConfigEntry {
  if (isScalar(node) && node.value === null) return { key };
  const { value, source } = isScalar(node) ? node : { value: '', source: undefined };
  const differs = typeof value !== 'string' && source !== undefined && source !== String(value);
  return { key, value: startOf(node), ...(differs ? { written: source } : {}) };
}

/** The offset of a node in the text; 0 if it has none. */
export function startOf(node: unknown): number {
  if (!isAlias(node) && !isScalar(node) && !isMap(node) && !isSeq(node)) return 0;
  return node.range?.[0] ?? 0;
}
