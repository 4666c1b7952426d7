import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '../../lib/host/files.ts';

const FILE = 'faults.json';
/** Of all scenarios that only machines run; those of containers have `FILE`. */
export const MACHINE_FILE = 'machine.json';

/** What became of a plan with a fault. */
export const faultResultSchema = z.object({
  plan: z
    .string()
    .describe('the agent whose plan it is; installation: the plans of an installation'),
  step: z.string().describe('in which the fault begins; before: before the plan'),
  fault: z.string(),
  outcome: z
    .string()
    .describe(
      'success; or how it ended before the next run succeeded: the code of its failure, or interrupted; WRONG: otherwise',
    ),
  why: z.string().optional().describe('where the outcome is WRONG'),
  seconds: z.number(),
});

export type FaultResult = z.infer<typeof faultResultSchema>;

export const WRONG = 'WRONG';
/** Of a plan that meets a fault in each of its steps, if that ends otherwise. */
export const EVERY_STEP = 'every';

/** What a row is about. */
export type FaultRow = Pick<FaultResult, 'plan' | 'step' | 'fault'>;

/** The rows that a scenario with several must have, by its name. */
export type DemandedRows = Readonly<Record<string, readonly FaultRow[]>>;

export const isSameRow = (one: FaultRow, other: FaultRow): boolean =>
  one.plan === other.plan && one.step === other.step && one.fault === other.fault;

/** The rows of what a table has as a whole: none if one is missing or wrong. */
export function passedIn(
  table: readonly FaultResult[],
  { row, rows = [row] }: { readonly row: FaultRow; readonly rows?: readonly FaultRow[] },
): FaultResult[] {
  const found = table.filter((each) => [row, ...rows].some((own) => isSameRow(own, each)));
  const isWhole = rows.every((own) => found.some((each) => isSameRow(own, each)));
  return isWhole && found.every(({ outcome }) => outcome !== WRONG) ? found : [];
}

/** Beside the result of the scenario, after each fault. */
export async function writeFaults(out: string, results: readonly FaultResult[]): Promise<void> {
  await writeFileAtomic(join(out, FILE), `${JSON.stringify(results, null, 2)}\n`, 0o644);
}

/** Of a scenario that has several, or of all; undefined if there is none. */
export async function readFaults(out: string, file = FILE): Promise<FaultResult[] | undefined> {
  const text = await readFile(join(out, file), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : z.array(faultResultSchema).parse(JSON.parse(text));
}
