import type { z } from 'zod';

/** What a value of a type is called; other types keep their name. */
const TYPES: Readonly<Record<string, string>> = {
  ...{ string: 'a text', number: 'a number', int: 'a whole number', boolean: 'true or false' },
  ...{ array: 'a list', object: 'a mapping', record: 'a mapping', null: 'nothing' },
  undefined: 'nothing',
};

const typeName = (type: string): string => TYPES[type] ?? type;

/** Zod's own messages, which are those of programmers; schemas that have one of their own keep it. */
const OWN_OF_ZOD = /^(?:Invalid |Too (?:small|big): |Unrecognized keys?: )/;

/** A fault in words of people, without the value, which may be a secret. */
export function schemaWords(issue: z.core.$ZodIssue): string {
  if (!OWN_OF_ZOD.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type': {
      const [, found = 'another value'] = /, received (\S+)$/.exec(issue.message) ?? [];
      const isOtherNumber = issue.expected === 'int' && found === 'number';
      return `expected ${typeName(issue.expected)}, found ${isOtherNumber ? 'another number' : typeName(found)}`;
    }
    case 'invalid_value':
      return `expected ${oneOf(issue.values)}`;
    case 'too_small':
      return `expected ${amount(issue.origin, issue.inclusive ? 'at least' : 'more than', issue.minimum)}`;
    case 'too_big':
      return `expected ${amount(issue.origin, issue.inclusive ? 'at most' : 'less than', issue.maximum)}`;
    case 'invalid_format':
      return `expected ${ofFormat({ ...issue })}`;
    case 'unrecognized_keys':
      return `unknown field ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
    case 'invalid_union':
      return `expected ${'options' in issue && Array.isArray(issue.options) ? oneOf(issue.options) : alternatives(issue.errors)}`;
    default:
      return 'expected another value';
  }
}

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
    if (first === undefined || first.path.length > 0) return [];
    const [, words] = /^expected ([^,]+)/.exec(schemaWords(first)) ?? [];
    return words === undefined ? [] : [words];
  });
  return expected.length > 0 ? [...new Set(expected)].join(' or ') : 'another value';
}
