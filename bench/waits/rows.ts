import type { Row, Spread } from '../benchmark.ts';
import { spread } from '../statistics.ts';
import { type PolledStep, type ShellPoll, shellPolls } from './shell-polls.ts';

/** How long after an event our wait for it ends. */
export type OurDelay =
  | { readonly kind: 'measured'; readonly seconds: readonly number[] }
  /** We poll too where nothing can be watched. */
  | { readonly kind: 'polled'; readonly everySeconds: number };

const theirsComputed =
  'theirs is computed as half of its polling interval (range: 0 to the interval)';
const notes = {
  measured: `Ours is measured; ${theirsComputed}.`,
  polled: `Nothing can be watched here: ours is computed from its own polling interval; ${theirsComputed}.`,
  sum: 'The sum of the medians above.',
} as const;

/** How long an event at a random time waits for the next poll. */
export function pollDelay(everySeconds: number): Spread {
  return { median: everySeconds / 2, min: 0, max: everySeconds };
}

/** A row for each wait, and one with the total. */
export function waitRows(ours: Readonly<Record<PolledStep, OurDelay>>): Row[] {
  const rows = shellPolls.map((poll) => waitRow(poll, ours[poll.step]));
  return [...rows, sumRow(rows)];
}

function waitRow({ step, until, everySeconds }: ShellPoll, delay: OurDelay): Row {
  const isMeasured = delay.kind === 'measured';
  return rowOf(
    `${step}: ${until}`,
    isMeasured ? spread(delay.seconds) : pollDelay(delay.everySeconds),
    pollDelay(everySeconds),
    isMeasured ? delay.seconds.length : 0,
    notes[delay.kind],
  );
}

function sumRow(rows: readonly Row[]): Row {
  const sum = (side: 'ours' | 'theirs') => rows.reduce((all, row) => all + row[side].median, 0);
  return rowOf('total', spread([sum('ours')]), spread([sum('theirs')]), 0, notes.sum);
}

function rowOf(what: string, ours: Spread, theirs: Spread, repetitions: number, note: string): Row {
  return { what, unit: 's', ours, theirs, ratio: ours.median / theirs.median, repetitions, note };
}

/** Deliberate waits: a time during which nothing may change, or a notice to users. */
export function deliberateRow(oursSeconds: number): Row {
  const note =
    'Deliberate waits, not delays. Ours: etcd unchanged before the snapshot, the API stable before the ' +
    'bootstrap counts as complete, the control plane unchanged before the clean-up. ' +
    'Theirs: shutdown -r +1 in install-to-disk.sh.template; it accepts the first good answer as the steady state.';
  return rowOf('deliberate waits', spread([oursSeconds]), spread([60]), 0, note);
}
