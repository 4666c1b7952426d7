import { z } from 'zod';
import { suggest } from '../../lib/errors/suggest.ts';
import type { ConfigDocument } from './document.ts';
import { type Fault, fieldName, foundText } from './fault.ts';
import { bare, messageOf, schemaAt } from './message.ts';
import { NOT_SUPPORTED } from './not-supported.ts';
import { installConfigSchema } from './schema.ts';

type Path = readonly PropertyKey[];

/**
 * Maximum number of unknown fields of one mapping that are compared with the known
 * ones; more are not shown.
 */
const MOST_COMPARED = 100;

export type Issue = z.core.$ZodIssue;

/** The schema's issues, in the words of its messages. */
export function schemaFaults(issues: readonly Issue[], document: ConfigDocument): Fault[] {
  return issues.flatMap((issue) =>
    pathsOf(issue).map((path, index) =>
      issue.code === 'unrecognized_keys'
        ? unknownField(path, document, index < MOST_COMPARED)
        : wrongValue(path, document),
    ),
  );
}

/** The fields that an issue concerns. */
export function pathsOf(issue: Issue): Path[] {
  if (issue.code !== 'unrecognized_keys') return [issue.path];
  return issue.keys.map((key) => [...issue.path, key]);
}

function wrongValue(path: Path, document: ConfigDocument): Fault {
  const value = valueAt(document.value, path);
  const message = messageOf(schemaAt(installConfigSchema, path));
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

function unknownField(path: Path, document: ConfigDocument, isCompared: boolean): Fault {
  const place = {
    position: document.positionOf(path, 'key'),
    field: fieldName(path),
    found: foundText(valueAt(document.value, path), true),
  };
  const instead = NOT_SUPPORTED.get(pattern(path));
  if (instead !== undefined) {
    const fix =
      instead === ''
        ? 'Remove it: the OpenShift installer has this field, but it is not supported yet.'
        : `Use ${instead} instead: this one is not supported.`;
    return { ...place, expected: 'no such field', fix };
  }
  if (!isCompared) return { ...place, expected: 'a known field', fix: 'Remove it.' };
  const siblings = namesIn(path.slice(0, -1));
  const near = suggest(String(path.at(-1)), siblings);
  const list = siblings.length === 0 ? '' : `, or use one of ${siblings.join(', ')}`;
  const fix = near === undefined ? `Remove it${list}.` : `Did you mean ${near}?`;
  return { ...place, expected: 'a known field', fix };
}

function namesIn(path: Path): string[] {
  const schema = schemaAt(installConfigSchema, path);
  const object = schema === undefined ? undefined : bare(schema);
  return object instanceof z.ZodObject ? Object.keys(object.shape) : [];
}

/** The path without list indexes, as in NOT_SUPPORTED. */
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
