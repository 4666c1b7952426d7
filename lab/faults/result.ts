import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '../../lib/host/files.ts';

const FILE = 'faults.json';

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
/** Of a plan that meets a fault in each of its steps. */
export const EVERY_STEP = 'every';

/** Rows of a fault, which are none if one of them is wrong. Step `every`: of each step. */
export function passedIn(
  table: readonly FaultResult[],
  { plan, step, fault }: Pick<FaultResult, 'plan' | 'step' | 'fault'>,
): FaultResult[] {
  const isOf = (row: FaultResult) =>
    row.plan === plan && row.fault === fault && (row.step === step || step === EVERY_STEP);
  const rows = table.filter(isOf);
  return rows.some(({ outcome }) => outcome === WRONG) ? [] : rows;
}

/** Beside the result of the scenario, after each fault. */
export async function writeFaults(out: string, results: readonly FaultResult[]): Promise<void> {
  await writeFileAtomic(join(out, FILE), `${JSON.stringify(results, null, 2)}\n`, 0o644);
}

/** Of a scenario that has several; undefined if it has none. */
export async function readFaults(out: string): Promise<FaultResult[] | undefined> {
  const text = await readFile(join(out, FILE), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : z.array(faultResultSchema).parse(JSON.parse(text));
}
