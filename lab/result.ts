import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { failureDataSchema } from '../lib/base/errors/failure-data.ts';
import { recordedStepSchema } from '../lib/cluster/installation/record.ts';

/** `lab/out/<scenario>/result.json`: the result of a lab run, including failed ones. */
export const resultSchema = z.object({
  schemaVersion: z.literal(1),
  version: z.string().describe('of the product that was run'),
  scenario: z.string(),
  ok: z.boolean(),
  failure: failureDataSchema.optional().describe('where it is not ok'),
  seconds: z.number().describe('of the whole run'),
  ownSeconds: z.number().describe('processor time of all agents'),
  stages: z
    .array(z.object({ name: z.string(), seconds: z.number() }))
    .describe('of the scenario, in order'),
  steps: z.array(recordedStepSchema).describe('of all agents on all hosts of the run'),
  versions: z.record(z.string(), z.string()).describe('of the components'),
});

export type LabResult = z.infer<typeof resultSchema>;

/** Reads the result of the last run; `out` is the scenario's folder in `lab/out`. */
export async function readResult(out: string): Promise<LabResult> {
  return resultSchema.parse(JSON.parse(await readFile(join(out, 'result.json'), 'utf8')));
}
