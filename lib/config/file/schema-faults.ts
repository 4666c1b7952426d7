import { z } from 'zod';
import { suggest } from '../../base/errors/suggest.ts';
import type { ConfigDocument } from './document.ts';
import { type Fault, fieldName, foundText } from './fault.ts';
import { bare, schemaAt, schemaMessageOf } from './message.ts';

type Path = readonly PropertyKey[];

/**
 * Maximum number of unknown fields of one mapping that are compared with the known
 * ones; more are not shown.
 */
const MOST_COMPARED = 100;

/** How the fix of a text begins that YAML takes for something else. */
export const IN_QUOTES = 'Write it in quotes';

export type SchemaIssue = z.core.$ZodIssue;

/** A kind of configuration: what it may have, with the messages of each field. */
export interface ConfigKind {
  readonly schema: z.ZodType;
  /**
   * What to do about a field that the user may know from another program; undefined for any other one. List
   * positions are `[]` in its name.
   */
  readonly refused: (field: string) => string | undefined;
}

/** The schema's issues, in the words of its messages. */
export function schemaFaults(
  issues: readonly SchemaIssue[],
  document: ConfigDocument,
  kind: ConfigKind,
): Fault[] {
  return issues.flatMap((issue) =>
    pathsOf(issue).map((path, index) =>
      issue.code === 'unrecognized_keys'
        ? unknownField(path, document, kind, index < MOST_COMPARED)
        : wrongValue(path, document, kind),
    ),
  );
}

/** The fields that an issue concerns. */
export function pathsOf(issue: SchemaIssue): Path[] {
  if (issue.code !== 'unrecognized_keys') return [issue.path];
  return issue.keys.map((key) => [...issue.path, key]);
}

function wrongValue(path: Path, document: ConfigDocument, { schema }: ConfigKind): Fault {
  const value = valueAt(document.value, path);
  const below = schemaAt(schema, path);
  const glued = below === undefined ? undefined : gluedKey(value, bare(below));
  if (glued !== undefined) {
    return {
      position: document.positionOf(path),
      field: fieldName([...path, glued]),
      expected: 'a blank after the colon',
      found: 'none',
      fix: `Write "${glued}: " and then the value.`,
    };
  }
  const message = schemaMessageOf(below);
  const { expected, fix, found } = message?.problem?.(value) ??
    message ?? { expected: 'another value', fix: 'Fix it.' };
  const isSecret = message?.isSecret === true;
  const text = isSecret ? undefined : unquoted(path, document, below);
  return {
    position: document.positionOf(path),
    field: fieldName(path),
    expected,
    found: found ?? foundAt(path, document, expected, isSecret),
    fix: text === undefined ? fix : `${IN_QUOTES}: ${JSON.stringify(text)}.`,
  };
}

/** What is written, if YAML takes it for a number or a word of its own and the field would take it as a text. */
function unquoted(
  path: Path,
  document: ConfigDocument,
  schema: z.core.$ZodType | undefined,
): string | undefined {
  const value = valueAt(document.value, path);
  if (schema === undefined || (typeof value !== 'number' && typeof value !== 'boolean'))
    return undefined;
  const written = document.writtenAt(path) ?? `${value}`;
  return z.safeParse(schema, written).success ? written : undefined;
}

/** The key of `key:value` where a mapping is expected: without a blank it is a text. */
function gluedKey(value: unknown, schema: z.core.$ZodType): string | undefined {
  if (typeof value !== 'string' || !(schema instanceof z.ZodObject)) return undefined;
  const [, key] = /^([A-Za-z_][\w-]{0,60}):(?!\/)\S/.exec(value) ?? [];
  return key !== undefined && Object.hasOwn(schema.shape, key) ? key : undefined;
}

/** The value in words, and its source text if that differs. */
export function foundAt(
  path: Path,
  document: ConfigDocument,
  expected: string,
  isSecret = false,
): string {
  const value = valueAt(document.value, path);
  const found = foundText(value, isSecret);
  // A quoted number looks like the number itself.
  if (typeof value === 'string' && value === expected) return `the text ${found}`;
  const written = document.writtenAt(path);
  return written === undefined || isSecret ? found : `${found} (written ${written})`;
}

function unknownField(
  path: Path,
  document: ConfigDocument,
  { schema, refused }: ConfigKind,
  isCompared: boolean,
): Fault {
  const place = {
    position: document.positionOf(path, 'key'),
    field: fieldName(path),
    found: foundText(valueAt(document.value, path), true),
  };
  const instead = refused(pattern(path));
  if (instead !== undefined) return { ...place, expected: 'no such field', fix: instead };
  if (!isCompared) return { ...place, expected: 'a known field', fix: 'Remove it.' };
  const elsewhere = placesOf(schema, String(path.at(-1)));
  if (elsewhere.length > 0) {
    return {
      ...place,
      expected: 'no such field here',
      fix: `It belongs ${elsewhere.join(' or ')}.`,
    };
  }
  const siblings = namesIn(schema, path.slice(0, -1));
  const near = suggest(String(path.at(-1)), siblings);
  const list = siblings.length === 0 ? '' : `, or use one of ${siblings.join(', ')}`;
  const fix = near === undefined ? `Remove it${list}.` : `Did you mean ${near}?`;
  return { ...place, expected: 'a known field', fix };
}

/** Where a field of this name is known: `below networking`, `at the top level`. Only what a person could mean: not in lists. */
function placesOf(root: z.ZodType, name: string): string[] {
  const below = (schema: z.core.$ZodType, path: readonly string[]): string[] => {
    const object = bare(schema);
    if (!(object instanceof z.ZodObject)) return [];
    const here = path.length === 0 ? 'at the top level' : `below ${fieldName(path)}`;
    return Object.entries(object.shape).flatMap(([key, inside]) => [
      ...(key === name ? [here] : []),
      ...below(inside, [...path, key]),
    ]);
  };
  return below(root, []);
}

/** The fields of the mapping at a place; none if no mapping is there. */
export function namesIn(root: z.ZodType, path: Path): string[] {
  const schema = schemaAt(root, path);
  const object = schema === undefined ? undefined : bare(schema);
  return object instanceof z.ZodObject ? Object.keys(object.shape) : [];
}

/** The path without list indexes, as for ConfigKind. */
const pattern = (path: Path) => fieldName(path).replace(/\[\d+\]/g, '[]');

export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, part)
        ? Reflect.get(value, part)
        : undefined,
    root,
  );
}
