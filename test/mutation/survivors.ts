import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { MutantName } from './mutant.ts';

const survivorSchema = z.strictObject({
  file: z.string(),
  operator: z.string(),
  before: z.string(),
  after: z.string(),
  /** Why no test can detect it, for readers. */
  reason: z.string().min(20),
});

/** A mutant that no test can detect. */
export type Survivor = z.infer<typeof survivorSchema>;

export async function readSurvivors(path: string): Promise<Survivor[]> {
  return z.array(survivorSchema).parse(JSON.parse(await readFile(path, 'utf8')));
}

export function isSame(a: MutantName, b: MutantName): boolean {
  return (
    a.file === b.file && a.operator === b.operator && a.before === b.before && a.after === b.after
  );
}
