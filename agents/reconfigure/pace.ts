import type { ReconfigureRequest } from '../../lib/change/site/request.ts';
import { fingerprint } from '../../lib/engine/steps/fingerprint.ts';
import type { JournalEntry } from '../../lib/engine/steps/journal.ts';
import type { Pace } from '../../lib/engine/steps/reporter.ts';
import type { Plan } from '../../lib/engine/steps/step.ts';

/**
 * Seconds of each step: the lab's scenario relocate on two idle cores, rounded. Most of `settle` is the time for which nothing
 * may change (reconfigureWindowMs); `start` has a change of the identity.
 */
export const USUAL_SECONDS: Readonly<Record<string, number>> = {
  check: 0,
  arm: 1,
  stop: 1,
  network: 3,
  files: 1,
  clock: 0,
  credentials: 0,
  start: 11,
  hostname: 0,
  objects: 1,
  settle: 32,
  names: 0,
  confirm: 1,
  conclude: 0,
};

/**
 * Of the steps that only OpenShift has, or that take longer there. No host has run them: estimates, from what is known of other
 * relocations of a single node (control plane 4 min, operators 7 min, and the window of `settle`).
 */
const ON_OPENSHIFT: Readonly<Record<string, number>> = {
  stop: 60,
  network: 90,
  'local-names': 1,
  start: 240,
  certificates: 1,
  objects: 5,
  routes: 180,
  settle: 720,
};

/** How long a request usually takes, and what of it is behind the host: its clock may have been set since. */
export function paceOf(
  { steps }: Pick<Plan<never>, 'steps'>,
  entries: readonly JournalEntry[],
  { id }: Pick<ReconfigureRequest, 'id'>,
): Pace {
  const isOpenShift = steps.some(({ name }) => name === 'routes');
  const usual = isOpenShift ? { ...USUAL_SECONDS, ...ON_OPENSHIFT } : USUAL_SECONDS;
  const own = fingerprint(id);
  const done = entries.filter(({ event, input }) => event === 'done' && input === own);
  const sum = (seconds: readonly number[]) => Math.round(seconds.reduce((a, b) => a + b, 0));
  return {
    beforeSeconds: sum(done.map(({ seconds = 0 }) => seconds)),
    usualSeconds: sum(steps.map(({ name }) => usual[name] ?? 0)),
  };
}
