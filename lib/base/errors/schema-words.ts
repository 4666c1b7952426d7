import { z } from 'zod';

/** What a value of a type is called; other types keep their name. */
const TYPES: Readonly<Record<string, string>> = {
  ...{ string: 'a text', number: 'a number', int: 'a whole number', boolean: 'true or false' },
  ...{ array: 'a list', object: 'a mapping', record: 'a mapping', null: 'nothing' },
  undefined: 'nothing',
};

const typeName = (type: string): string => TYPES[type] ?? type;

/** The type of a value alone: the value may be a secret. */
function found(value: unknown, expected: string): string {
  if (value === '') return 'an empty text';
  if (Array.isArray(value) && value.length === 0) return 'an empty list';
  const name = typeName(z.core.util.parsedType(value));
  return name === expected ? name.replace(/^an? /, 'another ') : name;
}

const withFound = (expected: string, value: unknown, type = expected): string =>
  `expected ${expected}, found ${found(value, type)}`;

/** Such as `"a", "b" or "c"`. */
function oneOf(values: readonly unknown[]): string {
  const texts = values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value)));
  const last = texts.pop() ?? 'nothing';
  return texts.length === 0 ? last : `${texts.join(', ')} or ${last}`;
}

/** Of texts the characters are counted, of lists the entries; numbers are what they are. */
function amount(origin: string, words: string, limit: number | bigint): string {
  if (origin === 'string') return `a text of ${words} ${limit} characters`;
  return origin === 'array' ? `a list of ${words} ${limit} entries` : `a number, ${words} ${limit}`;
}

function ofFormat({ format, prefix, suffix, pattern }: Record<string, unknown>): string {
  if (format === 'starts_with') return `a text that begins with "${prefix}"`;
  if (format === 'ends_with') return `a text that ends with "${suffix}"`;
  if (format === 'uuid') return 'a UUID';
  return format === 'datetime'
    ? 'a time such as 2027-01-31T00:00:00Z'
    : `a text of the form ${format === 'regex' ? pattern : format}`;
}

/** What each alternative expects, as far as all are about the same value. */
function alternatives(errors: readonly (readonly z.core.$ZodIssue[])[]): string {
  const expected = errors.flatMap(([first]) => {
    const [, words] = /^expected (.+?), found /.exec(first?.message ?? '') ?? [];
    return words === undefined || (first?.path ?? []).length > 0 ? [] : [words];
  });
  return expected.length > 0 ? [...new Set(expected)].join(' or ') : 'another value';
}

/** The words of a fault for which its schema has none, without the value. */
export function schemaWords(issue: z.core.$ZodRawIssue): string {
  const { input } = issue;
  switch (issue.code) {
    case 'invalid_type': {
      const expected = typeName(issue.expected);
      return withFound(expected, input, issue.expected === 'int' ? 'a number' : expected);
    }
    case 'invalid_value':
      return withFound(oneOf(issue.values), input, 'a text');
    case 'too_small':
      return withFound(
        amount(issue.origin, issue.inclusive ? 'at least' : 'more than', issue.minimum),
        input,
        'a number',
      );
    case 'too_big':
      return withFound(
        amount(issue.origin, issue.inclusive ? 'at most' : 'less than', issue.maximum),
        input,
        'a number',
      );
    case 'invalid_format':
      return withFound(ofFormat(issue), input, 'a text');
    case 'unrecognized_keys':
      return `unknown field ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
    case 'invalid_union':
      return withFound(
        Array.isArray(issue.options) ? oneOf(issue.options) : alternatives(issue.errors),
        input,
        '',
      );
    default:
      return 'expected another value';
  }
}
