import { fingerprint } from '../../../lib/steps/fingerprint.ts';
import type { JournalEntry } from '../../../lib/steps/journal.ts';
import type { Pace } from '../../../lib/steps/reporter.ts';
import type { ReconfigureRequest } from './request.ts';

/**
 * Seconds of each step, as the lab's scenario relocate measures them for a site with another domain and a static address. Most of
 * `settle` is the time for which nothing may change; `start` has a change of the identity.
 */
export const USUAL_SECONDS: Readonly<Record<string, number>> = {
  check: 1,
  arm: 1,
  stop: 4,
  network: 5,
  files: 1,
  clock: 1,
  credentials: 1,
  start: 24,
  hostname: 1,
  objects: 2,
  settle: 33,
  names: 1,
  confirm: 1,
  conclude: 1,
};

/** How long a request usually takes, and what of it is behind the host: its clock may have been set since. */
export function paceOf(
  entries: readonly JournalEntry[],
  { id }: Pick<ReconfigureRequest, 'id'>,
): Pace {
  const own = fingerprint(id);
  const done = entries.filter(({ event, input }) => event === 'done' && input === own);
  const sum = (seconds: readonly number[]) => Math.round(seconds.reduce((a, b) => a + b, 0));
  return {
    beforeSeconds: sum(done.map(({ seconds = 0 }) => seconds)),
    usualSeconds: sum(Object.values(USUAL_SECONDS)),
  };
}
