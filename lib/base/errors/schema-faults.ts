import type { z } from 'zod';
import { parseJson } from '../json.ts';
import { brokenAt } from '../json-fault.ts';
import { inOneLine } from '../printable.ts';
import { schemaWords } from './schema-words.ts';

/** Faults of a file of many entries may be thousands. */
const LONGEST = 400;

/** What a schema finds wrong, in one line that names the fields. */
export const schemaFaults = ({ issues }: z.core.$ZodError): string =>
  inOneLine(
    issues
      .map((issue) => {
        const words = schemaWords(issue);
        return issue.path.length === 0 ? words : `${fieldOf(issue.path)}: ${words}`;
      })
      .join('; '),
  ).slice(0, LONGEST);

/** Such as `spec.items[0].name`; empty for the whole. */
export const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((at, part) => {
    if (typeof part === 'number') return `${at}[${part}]`;
    return at === '' ? String(part) : `${at}.${String(part)}`;
  }, '');

/** The same of a file that should be JSON: perhaps it is none. */
export const jsonFaults = (text: string, error: z.core.$ZodError): string =>
  parseJson(text) === undefined ? `no JSON: ${brokenAt(text)}` : schemaFaults(error);
