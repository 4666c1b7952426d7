import { z } from 'zod';
import type { JournalEntry } from '../../lib/steps/journal.ts';
import type { Row } from '../benchmark.ts';
import { compare, spread } from '../statistics.ts';
import { pollDelay } from '../waits/rows.ts';

/** What of `lab/out/<scenario>/result.json` is read here. */
export const labResultSchema = z.looseObject({
  stages: z.array(z.looseObject({ name: z.string(), seconds: z.number() })),
  steps: z.array(z.looseObject({ name: z.string(), seconds: z.number(), cpu: z.number() })),
  versions: z.record(z.string(), z.string()),
});

export type LabResult = z.infer<typeof labResultSchema>;

/** The stages of a run that are the installation; the others are the lab's own looks at it. */
const INSTALLATION = [
  'Boot the live host',
  'Bootstrap and write the disk',
  'Boot from the disk',
  'Restore, join and clean up',
];
const SHELL_MARKER_POLL_SECONDS = 5;

/** The processor time of all steps, beside the time from power on to PASS. */
export function shareRow({ stages, steps }: LabResult): Row {
  const own = steps.reduce((sum, { cpu }) => sum + cpu, 0);
  const all = stages
    .filter(({ name }) => INSTALLATION.includes(name))
    .reduce((sum, { seconds }) => sum + seconds, 0);
  const note =
    'Ours is the processor time of the agents, theirs the time of the installation from the start of the live ' +
    'host to the end of the last agent. The rest is boots, the disk, images, and what the agents wait for.';
  return compare({ what: "the agents' share", unit: 's', note }, [own], [all]);
}

/** The one wait of an installation whose two ends are in journals of one clock. */
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
    note: 'Ours by the journals of both agents; theirs is computed: half of its interval of 5 s, from none to all of it.',
  };
}

/** In seconds of the boot: steps of one host are on one clock. */
function endOf(journal: readonly JournalEntry[], step: string): number {
  const done = journal.findLast((entry) => entry.step === step && entry.event === 'done');
  if (done === undefined) throw new Error(`the journal has no end of the step ${step}`);
  return done.up;
}
