import type { z } from 'zod';
import { withoutNull } from './config-schemas.ts';

type Schema = z.core.JSONSchema.JSONSchema;

export interface Field {
  /** `[]` stands for any position of a list. */
  path: string;
  isRequired: boolean;
  expected: string;
}

/** Parents before their fields, in the order of the schema. */
export function fieldsOf(schema: Schema, path: string): Field[] {
  const { properties = {}, required = [], items } = schema;
  const own = Object.entries(properties).flatMap(([name, below]) =>
    fieldAndBelow(below, path === '' ? name : `${path}.${name}`, required.includes(name)),
  );
  if (items === undefined || Array.isArray(items)) return own;
  return [...own, ...fieldAndBelow(items, `${path}[]`, true)];
}

function fieldAndBelow(schema: Schema | boolean, path: string, isRequired: boolean): Field[] {
  const inside = typeof schema === 'boolean' ? {} : withoutNull(schema);
  const { description } = inside;
  if (description === undefined) throw new Error(`the schema has no message for ${path}`);
  return [{ path, isRequired, expected: description }, ...fieldsOf(inside, path)];
}
