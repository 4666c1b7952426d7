import type { Row, Spread } from '../benchmark.ts';
import { spread } from '../statistics.ts';
import { type PolledStep, type ShellPoll, shellPolls } from './shell-polls.ts';

/** How late ours goes on after what it waits for has happened. */
export type OurDelay =
  | { readonly kind: 'measured'; readonly seconds: readonly number[] }
  /** We look at intervals too, where nothing can be watched. */
  | { readonly kind: 'polled'; readonly everySeconds: number };

const theirsComputed = 'theirs is computed: half of its interval, from none to all of it';
const notes = {
  measured: `Ours is measured; ${theirsComputed}.`,
  polled: `Nothing here can be watched: ours is computed from its own interval; ${theirsComputed}.`,
  sum: 'The sum of the medians above.',
} as const;

/** What an event that comes at any time waits for the next look. */
export function pollDelay(everySeconds: number): Spread {
  return { median: everySeconds / 2, min: 0, max: everySeconds };
}

/** A row for each wait, and one with their sums. */
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
  return rowOf('all of them', spread([sum('ours')]), spread([sum('theirs')]), 0, notes.sum);
}

function rowOf(what: string, ours: Spread, theirs: Spread, repetitions: number, note: string): Row {
  return { what, unit: 's', ours, theirs, ratio: ours.median / theirs.median, repetitions, note };
}

/** Waits that are meant: a time for which nothing may happen, or a notice to people. */
export function deliberateRow(oursSeconds: number): Row {
  const note =
    'Not reactions but waits on purpose. Ours: etcd quiet before the snapshot, the API without a fault before ' +
    'the bootstrap is called complete, the control plane unchanged before the clean-up. ' +
    'Theirs: shutdown -r +1 in install-to-disk.sh.template; it takes the first good answer for steady.';
  return rowOf('waits on purpose', spread([oursSeconds]), spread([60]), 0, note);
}
