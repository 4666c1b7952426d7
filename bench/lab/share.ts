import { z } from 'zod';
import type { JournalEntry } from '../../lib/engine/steps/journal.ts';
import type { Row } from '../benchmark.ts';
import { compare, spread } from '../statistics.ts';
import { pollDelay } from '../waits/rows.ts';

/** The fields of `lab/out/<scenario>/result.json` that are read here. */
export const labResultSchema = z.looseObject({
  stages: z.array(z.looseObject({ name: z.string(), seconds: z.number() })),
  steps: z.array(z.looseObject({ name: z.string(), seconds: z.number(), cpu: z.number() })),
  versions: z.record(z.string(), z.string()),
});

export type LabResult = z.infer<typeof labResultSchema>;

/** The stages of a run that are part of the installation; the others are the lab's own checks. */
const INSTALLATION = [
  'Boot the live host',
  'Bootstrap and write the disk',
  'Boot from the disk',
  'Restore, join and clean up',
];
const SHELL_MARKER_POLL_SECONDS = 5;

/** The processor time of all steps, and the time from power-on to PASS. */
export function shareRow({ stages, steps }: LabResult): Row {
  const own = steps.reduce((sum, { cpu }) => sum + cpu, 0);
  const all = stages
    .filter(({ name }) => INSTALLATION.includes(name))
    .reduce((sum, { seconds }) => sum + seconds, 0);
  const note =
    'Ours is the processor time of the agents; theirs is the time of the installation from the start of the live ' +
    'host to the end of the last agent. The rest is booting, disk writes, images, and what the agents wait for.';
  return compare({ what: "the agents' share", unit: 's', note }, [own], [all]);
}

/** The only wait of an installation whose start and end are in journals with the same clock. */
export function handoverRow(
  bootkube: readonly JournalEntry[],
  installToDisk: readonly JournalEntry[],
): Row {
  const seconds = endOf(installToDisk, 'wait-for-bootkube') - endOf(bootkube, 'finish');
  const [ours, theirs] = [spread([seconds]), pollDelay(SHELL_MARKER_POLL_SECONDS)];
  return {
    what: 'from the end of bootkube to install-to-disk',
    unit: 's',
    ours,
    theirs,
    ratio: ours.median / theirs.median,
    repetitions: 1,
    note: 'Ours is taken from the journals of both agents; theirs is computed as half of its polling interval of 5 s (range: 0 to 5 s).',
  };
}

/** In seconds since boot: steps of one host share a clock. */
function endOf(journal: readonly JournalEntry[], step: string): number {
  const done = journal.findLast((entry) => entry.step === step && entry.event === 'done');
  if (done === undefined) throw new Error(`the journal has no done entry for step ${step}`);
  return done.up;
}
