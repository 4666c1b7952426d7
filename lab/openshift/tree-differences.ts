import { parseAllDocuments } from 'yaml';
import { isRecord } from '../../lib/base/json.ts';

/** One tree to compare: texts by path, and what is particular to its cluster. */
export interface ComparedTree {
  readonly texts: ReadonlyMap<string, string>;
  /** Names and ids that stand for the same in both trees, by the word that replaces them. */
  readonly names: Readonly<Record<string, string>>;
}

/** Why a difference is expected. */
export interface Explanation {
  /** Matches whole differences. */
  readonly difference: RegExp;
  readonly reason: string;
}

export interface Explained {
  readonly unexplained: readonly string[];
  /** Differences by the reason for them. */
  readonly byReason: ReadonlyMap<string, readonly string[]>;
  /** Explanations that match nothing. */
  readonly stale: readonly Explanation[];
}

/**
 * The differences of two trees, file by file and field by field: `PATH: FIELD: ours|real|both`. Keys,
 * certificates and image references count as equal whatever they are.
 */
export function treeDifferences(ours: ComparedTree, real: ComparedTree): string[] {
  const [left, right] = [documentsOf(ours), documentsOf(real)];
  const paths = [...new Set([...left.keys(), ...right.keys()])].sort();
  return paths.flatMap((path) => {
    if (!right.has(path)) return [`${path}: ours`];
    if (!left.has(path)) return [`${path}: real`];
    return [...new Set(fieldDifferences(left.get(path), right.get(path), [path]))];
  });
}

/** Each difference has at most one reason: the first that matches. */
export function explain(
  differences: readonly string[],
  explanations: readonly Explanation[],
): Explained {
  const byReason = new Map<string, string[]>();
  const used = new Set<Explanation>();
  const unexplained = differences.filter((each) => {
    const found = explanations.find(({ difference }) => difference.test(each));
    if (found === undefined) return true;
    used.add(found);
    byReason.set(found.reason, [...(byReason.get(found.reason) ?? []), each]);
    return false;
  });
  return { unexplained, byReason, stale: explanations.filter((each) => !used.has(each)) };
}

/** `at`: the path of the file, and the names of the fields. */
function fieldDifferences(ours: unknown, real: unknown, at: readonly string[]): string[] {
  if (isRecord(ours) && isRecord(real)) {
    const fields = [...new Set([...Object.keys(ours), ...Object.keys(real)])].sort();
    return fields.flatMap((field) => {
      const name = [...at, field];
      if (!(field in real)) return [difference(name, 'ours')];
      if (!(field in ours)) return [difference(name, 'real')];
      return fieldDifferences(ours[field], real[field], name);
    });
  }
  if (Array.isArray(ours) && Array.isArray(real)) return itemDifferences(ours, real, at);
  return ours === real ? [] : [difference(at, 'both')];
}

function difference([path, ...fields]: readonly string[], has: string): string {
  return [path, ...(fields.length === 0 ? [] : [fields.join(' ')]), has].join(': ');
}

/** Items with names by their names, others by their values: their order says nothing. */
function itemDifferences(
  ours: readonly unknown[],
  real: readonly unknown[],
  at: readonly string[],
): string[] {
  const [left, right] = [byName(ours), byName(real)];
  if (left !== undefined && right !== undefined) return fieldDifferences(left, right, at);
  const text = (items: readonly unknown[]) => items.map((item) => JSON.stringify(sorted(item)));
  const [mine, theirs] = [text(ours), text(real)];
  return [
    ...(mine.some((item) => !theirs.includes(item)) ? [difference(at, 'items: ours')] : []),
    ...(theirs.some((item) => !mine.includes(item)) ? [difference(at, 'items: real')] : []),
  ];
}

/** Undefined unless each item has a name of its own. */
function byName(items: readonly unknown[]): Readonly<Record<string, unknown>> | undefined {
  const named = new Map<string, unknown>();
  for (const item of items) {
    if (isRecord(item) && typeof item.name === 'string') named.set(item.name, item);
  }
  return named.size === items.length ? Object.fromEntries(named) : undefined;
}

/** With its fields in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).sort(([a], [b]) => a.localeCompare(b));
  return Object.fromEntries(fields.map(([name, each]) => [name, sorted(each)]));
}

function documentsOf({ texts, names }: ComparedTree): Map<string, unknown> {
  const replace = replacer(names);
  return new Map(
    [...texts].map(([path, text]) => {
      const documents = parseAllDocuments(text).map((each): unknown => each.toJS());
      return [replace(path), plain(documents.length === 1 ? documents[0] : documents, replace)];
    }),
  );
}

const PEM = /-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----\s*/g;
const IMAGE =
  /\b(?:localhost(?::\d+)?|registry\.[\w.]+(?::\d+)?|quay\.io)\/[\w./-]+(?::[\w.-]+|@sha256:[0-9a-f]+)?/g;

/** Without what differs between any two clusters. */
function plain(value: unknown, replace: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => plain(item, replace));
  if (isRecord(value)) {
    const fields = Object.entries(value).map(([name, each]) => [
      replace(name),
      plain(each, replace),
    ]);
    return Object.fromEntries(fields);
  }
  if (typeof value !== 'string') return value;
  const decoded = Buffer.from(value, 'base64').toString('latin1');
  const text = decoded.includes('-----BEGIN ') ? decoded : value;
  return replace(
    text
      .replace(PEM, '<$1>')
      .replace(/(<[A-Z ]+>)+/g, '$1')
      .replace(IMAGE, '<image>'),
  ).trim();
}

function replacer(names: ComparedTree['names']): (text: string) => string {
  const longestFirst = Object.entries(names).sort(([, a], [, b]) => b.length - a.length);
  return (text) => {
    let replaced = text;
    for (const [word, name] of longestFirst) replaced = replaced.replaceAll(name, `<${word}>`);
    return replaced;
  };
}
