import { z } from 'zod';
import { inOneLine } from '../printable.ts';

/** Faults of a file of many entries may be thousands. */
const LONGEST = 400;

/** What a schema finds wrong, in one line that names the fields. */
export const schemaFaults = (error: z.core.$ZodError): string =>
  inOneLine(z.prettifyError(error)).slice(0, LONGEST);
