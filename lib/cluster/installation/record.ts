import { z } from 'zod';
import type { JournalEntry } from '../../engine/steps/journal.ts';
import type { HostPaths } from '../../host/paths.ts';
import { stateFile } from '../../host/state-file.ts';
import { revisionSchema } from '../openshift/revisions.ts';

/** The final outcome of an agent's step. */
export const recordedStepSchema = z.object({
  agent: z.string(),
  name: z.string(),
  seconds: z.number().describe('length of the successful attempt'),
  waited: z.number().describe('the part of it that was spent waiting'),
  cpu: z.number().describe("processor time of the agent's own process, in seconds"),
  attempts: z.int().describe('number of attempts'),
});

export type RecordedStep = z.infer<typeof recordedStepSchema>;

export const restartsSchema = z.array(
  z.object({ pod: z.string(), container: z.string(), count: z.int() }),
);

export type RecordedRestarts = z.infer<typeof restartsSchema>;

/** `/var/lib/sno-agents/record.json`: the record of the installation; written at its end. A change of the identity renames `cluster` and `node`. */
export const recordSchema = z.object({
  schemaVersion: z.literal(1),
  version: z.string().describe('version of the product that installed the host'),
  clusterId: z.string(),
  cluster: z.string().describe('<name>.<baseDomain>'),
  node: z.string(),
  installed: z.iso.datetime().optional().describe('when the disk was complete'),
  completed: z.iso.datetime().describe('when the clean-up was verified'),
  containerRestarts: restartsSchema.describe('of the control plane since the reboot'),
  revisions: z
    .array(revisionSchema)
    .optional()
    .describe("of OpenShift's static pods, in the order in which they were seen"),
  userDataServed: z
    .boolean()
    .optional()
    .describe(
      'without a live image: whether a metadata service served the user data when the installed host started',
    ),
  steps: z.array(recordedStepSchema).describe('of both hosts, in the order of the agents'),
});

export type InstallationRecord = z.infer<typeof recordSchema>;

const damaged = {
  expected: 'the record of the installation',
  fix: 'Restore the file from a copy of this disk.',
};

export const writeRecord = (
  paths: Pick<HostPaths, 'record'>,
  record: InstallationRecord,
): Promise<void> =>
  stateFile(paths.record, recordSchema, { damaged, mode: 0o644, isIndented: true }).write(record);

/** When the clean-up was verified; undefined before. @throws Failure (fatal) if the record is damaged */
export async function completedAt(paths: Pick<HostPaths, 'record'>): Promise<Date | undefined> {
  const file = stateFile(paths.record, recordSchema.pick({ completed: true }), { damaged });
  const record = await file.read();
  return record === undefined ? undefined : new Date(record.completed);
}

/** One entry for each step of a journal: its last success, and how often it was started. */
export function recordedSteps(agent: string, entries: readonly JournalEntry[]): RecordedStep[] {
  const names = [...new Set(entries.map(({ step }) => step))];
  return names.map((name) => {
    const own = entries.filter(({ step }) => step === name);
    const last = own.findLast(({ event }) => event === 'done');
    return {
      agent,
      name,
      seconds: last?.seconds ?? 0,
      waited: last?.waited ?? 0,
      cpu: last?.cpu ?? 0,
      attempts: own.filter(({ event }) => event === 'started').length,
    };
  });
}
