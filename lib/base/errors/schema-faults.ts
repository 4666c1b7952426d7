import { z } from 'zod';
import { parseJson } from '../json.ts';
import { brokenAt } from '../json-fault.ts';
import { inOneLine } from '../printable.ts';
import { schemaWords } from './schema-words.ts';

// Zod's own words are those of programmers; messages of schemas that have their own stay.
z.config({ localeError: schemaWords });

/** Faults of a file of many entries may be thousands. */
const LONGEST = 400;

/** What a schema finds wrong, in one line that names the fields. */
export const schemaFaults = ({ issues }: z.core.$ZodError): string =>
  inOneLine(
    issues
      .map(({ path, message }) => {
        const at = z.core.toDotPath(path);
        return at === '' ? message : `${at}: ${message}`;
      })
      .join('; '),
  ).slice(0, LONGEST);

/** The same of a file that should be JSON: perhaps it is none. */
export const jsonFaults = (text: string, error: z.core.$ZodError): string =>
  parseJson(text) === undefined ? `no JSON: ${brokenAt(text)}` : schemaFaults(error);
