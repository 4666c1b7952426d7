import { z } from 'zod';
import { suggest } from '../errors/suggest.ts';
import type { ConfigDocument } from './document.ts';
import { type Fault, fieldName, foundText } from './fault.ts';
import { bare, messageOf, schemaAt } from './message.ts';

type Path = readonly PropertyKey[];

/**
 * Maximum number of unknown fields of one mapping that are compared with the known
 * ones; more are not shown.
 */
const MOST_COMPARED = 100;

export type Issue = z.core.$ZodIssue;

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
  issues: readonly Issue[],
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
export function pathsOf(issue: Issue): Path[] {
  if (issue.code !== 'unrecognized_keys') return [issue.path];
  return issue.keys.map((key) => [...issue.path, key]);
}

function wrongValue(path: Path, document: ConfigDocument, { schema }: ConfigKind): Fault {
  const value = valueAt(document.value, path);
  const message = messageOf(schemaAt(schema, path));
  const { expected, fix, found } = message?.problem?.(value) ??
    message ?? { expected: 'another value', fix: 'Fix it.' };
  const isSecret = message?.isSecret === true;
  return {
    position: document.positionOf(path),
    field: fieldName(path),
    expected,
    found: found ?? foundAt(path, document, expected, isSecret),
    fix,
  };
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
  const siblings = namesIn(schema, path.slice(0, -1));
  const near = suggest(String(path.at(-1)), siblings);
  const list = siblings.length === 0 ? '' : `, or use one of ${siblings.join(', ')}`;
  const fix = near === undefined ? `Remove it${list}.` : `Did you mean ${near}?`;
  return { ...place, expected: 'a known field', fix };
}

function namesIn(root: z.ZodType, path: Path): string[] {
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
