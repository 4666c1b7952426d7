import { z } from 'zod';
import type { Problem } from '../../base/errors/problem.ts';

/** What a field requires, in the words of error messages, the reference and the JSON Schema. */
interface Message extends Problem {
  /** More specific than `expected` about a wrong value. */
  problem?: (value: unknown) => Problem | undefined;
  /** The value is never shown. */
  isSecret?: true;
  /** Constraints that JSON Schema can express and the schema's own types cannot. */
  json?: Readonly<Record<string, unknown>>;
}

/** The message of each field, by its schema. */
export const MESSAGES = z.registry<Message>();

export function field<Schema extends z.ZodType>(schema: Schema, message: Message): Schema {
  MESSAGES.add(schema, message);
  return schema;
}

/**
 * A text in which `problem` finds nothing. Its result for `wrong` is the general
 * message of the field.
 */
export function text(
  problem: (value: string) => Problem | undefined,
  wrong: string,
  more: Pick<Message, 'isSecret' | 'json'> = {},
): z.ZodString {
  const { expected, fix } = problem(wrong) ?? { expected: 'a string', fix: 'Write one.' };
  const schema = z.string().refine((value) => problem(value) === undefined);
  const ofText = (value: unknown) => (typeof value === 'string' ? problem(value) : undefined);
  return field(schema, { expected, fix, ...more, problem: ofText });
}

/** A text that is either valid or not, without further detail. */
export function textOf(isValid: (value: string) => boolean, message: Message): z.ZodString {
  return field(z.string().refine(isValid), message);
}

/** An optional field; a key without a value counts as omitted, as for the installer. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/**
 * A list with a limited number of entries. Zod's own length check hides faults of
 * the entries; this one runs in any case.
 */
export function list<Entry extends z.ZodType>(
  entry: Entry,
  message: Message,
  { least = 0, most = Number.POSITIVE_INFINITY } = {},
) {
  const schema = z.array(entry).refine(({ length }) => length >= least && length <= most, {
    when: ({ value }) => Array.isArray(value),
  });
  const json = {
    ...(least === 0 ? {} : { minItems: least }),
    ...(most === Number.POSITIVE_INFINITY ? {} : { maxItems: most }),
  };
  return field(schema, { ...message, json });
}

/** One of the installer's words, or "" for its default. */
export function word<Word extends string>(words: readonly [Word, ...Word[]], fix: string) {
  return optional(field(z.enum(['', ...words]), { expected: words.join(' or '), fix }));
}

/** The schema of a field below another; undefined if there is none. */
export function schemaAt(
  schema: z.core.$ZodType,
  path: readonly PropertyKey[],
): z.core.$ZodType | undefined {
  const [first, ...rest] = path;
  if (first === undefined) return schema;
  const inside = bare(schema);
  const below =
    inside instanceof z.ZodObject
      ? property(inside, first)
      : inside instanceof z.ZodArray
        ? inside.element
        : inside instanceof z.ZodRecord
          ? inside.valueType
          : undefined;
  return below === undefined ? undefined : schemaAt(below, rest);
}

function property({ shape }: z.ZodObject, name: PropertyKey): z.core.$ZodType | undefined {
  return Object.hasOwn(shape, name) ? shape[String(name)] : undefined;
}

/** The message of a schema, also where the field is optional. */
export function schemaMessageOf(schema: z.core.$ZodType | undefined): Message | undefined {
  if (schema === undefined) return undefined;
  return MESSAGES.get(schema) ?? schemaMessageOf(wrapped(schema));
}

/** The schema inside of all wrappers that make a field optional or transform its value. */
export function bare(schema: z.core.$ZodType): z.core.$ZodType {
  const inner = wrapped(schema);
  return inner === undefined ? schema : bare(inner);
}

function wrapped(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return schema.unwrap();
  return schema instanceof z.ZodPipe ? schema.in : undefined;
}
