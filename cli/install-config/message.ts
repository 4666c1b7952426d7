import { z } from 'zod';
import type { Problem } from '../../lib/site/problem.ts';

/** What a field wants, in the words of an error message, of the reference and of the JSON Schema. */
interface Message extends Problem {
  /** Says more than `expected` about a wrong value. */
  problem?: (value: unknown) => Problem | undefined;
  /** The value is never shown. */
  isSecret?: true;
  /** What the JSON Schema can say and the schema's own types cannot. */
  json?: Readonly<Record<string, unknown>>;
}

/** The message of each field, by its schema. */
export const MESSAGES = z.registry<Message>();

export function field<Schema extends z.ZodType>(schema: Schema, message: Message): Schema {
  MESSAGES.add(schema, message);
  return schema;
}

/** A text in which `problem` finds nothing; what it says of `wrong`, it says of any other value. */
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

/** A text of which nothing more can be said than that it is wrong. */
export function textOf(isValid: (value: string) => boolean, message: Message): z.ZodString {
  return field(z.string().refine(isValid), message);
}

/** A field that may be left out; a key without a value is one, as for the installer. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/**
 * A list of so many entries. Zod's own check of the length hides what is wrong with the
 * entries; this one is made whether or not something is.
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

/** A word of the installer's, or "" for its default. */
export function word<Word extends string>(words: readonly [Word, ...Word[]], fix: string) {
  return optional(field(z.enum(['', ...words]), { expected: words.join(' or '), fix }));
}

/** The schema of a field below another; undefined when there is none. */
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
        : undefined;
  return below === undefined ? undefined : schemaAt(below, rest);
}

function property({ shape }: z.ZodObject, name: PropertyKey): z.core.$ZodType | undefined {
  return Object.hasOwn(shape, name) ? shape[String(name)] : undefined;
}

/** The message of a schema, also where the field is optional. */
export function messageOf(schema: z.core.$ZodType | undefined): Message | undefined {
  if (schema === undefined) return undefined;
  return MESSAGES.get(schema) ?? messageOf(wrapped(schema));
}

/** What is inside of everything that makes a field optional, or changes its value afterwards. */
export function bare(schema: z.core.$ZodType): z.core.$ZodType {
  const inner = wrapped(schema);
  return inner === undefined ? schema : bare(inner);
}

function wrapped(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return schema.unwrap();
  return schema instanceof z.ZodPipe ? schema.in : undefined;
}
