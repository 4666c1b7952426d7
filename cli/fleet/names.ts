import { Failure } from '../../lib/base/errors/failure.ts';

const OBJECT_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

export const isObjectName = (name: string): boolean => OBJECT_NAME.test(name);

/** The name of an object of Kubernetes. @throws Failure (usage), which names the option */
export function requireName(option: string, name: string): string {
  if (isObjectName(name)) return name;
  throw new Failure('usage', `${option} is not the name of an object`, {
    expected: 'lower-case letters, digits, "-" and "."',
    found: JSON.stringify(name.slice(0, 80)),
  });
}

/** `a,b` as names, each once. @throws Failure (usage) */
export function namesIn(option: string, text = ''): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (text === '') return [];
  if (names.includes('')) {
    throw new Failure('usage', `${option} has an empty name`, {
      expected: 'names with commas between them',
      found: JSON.stringify(text.slice(0, 80)),
    });
  }
  return [...new Set(names)];
}

const LONGEST_SELECTOR = 500;
const KEY = '(?:[a-z0-9][a-z0-9.-]*/)?[A-Za-z0-9](?:[\\w.-]*[A-Za-z0-9])?';
const VALUE = '(?:[A-Za-z0-9](?:[\\w.-]*[A-Za-z0-9])?)?';
/** One requirement (k8s.io/apimachinery, pkg/labels, Parse); the API judges lengths. */
const REQUIREMENT = ` *(?:!? *${KEY}|${KEY} *(?:==?|!=) *${VALUE}|${KEY} *[<>] *\\d+|${KEY} +(?:not)?in *\\( *${VALUE}(?: *, *${VALUE})* *\\)) *`;
const SELECTOR = new RegExp(`^${REQUIREMENT}(?:,${REQUIREMENT})*$`);

/** @throws Failure (usage) */
export function requireSelector(text: string): string {
  if (text.length <= LONGEST_SELECTOR && SELECTOR.test(text)) return text;
  throw new Failure('usage', '--selector is not a selector of labels', {
    expected: 'one such as wave=1',
    found: JSON.stringify(text.slice(0, 80)),
  });
}

/** A whole number from `least` to `most`. @throws Failure (usage), which names the option */
export function requireNumber(
  option: string,
  text: string,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new Failure('usage', `${option} is not a number that can be used`, {
    expected: `a whole number from ${least} to ${most}`,
    found: JSON.stringify(text.slice(0, 80)),
  });
}
