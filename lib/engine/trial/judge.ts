import type { FailureData } from '../../base/errors/failure-data.ts';
import type { BootMoment } from '../../host/boot-moment.ts';
import type { EndedTrial, Trial } from './trial.ts';

/** What is to be done about a trial now. */
export type TrialVerdict =
  /** There is none. */
  | { readonly kind: 'none' }
  /** It has ended, and was interrupted while its files were deleted. */
  | { readonly kind: 'ended' }
  /** It goes on: how long in this boot, and for how many more. */
  | { readonly kind: 'goes-on'; readonly leftMs: number; readonly bootsLeft: number }
  /** It is taken back, for this reason. */
  | { readonly kind: 'revert'; readonly reason: FailureData };

/** A trial as its files say. */
export interface TrialState {
  readonly trial: Trial | undefined;
  readonly last: EndedTrial | undefined;
}

/**
 * Decides about a trial by its record, the boot id and the uptime: a clock that nobody can set. The
 * present boot must have been counted.
 */
export function judgeTrial({ trial, last }: TrialState, now: BootMoment): TrialVerdict {
  if (trial === undefined) return { kind: 'none' };
  if (last?.id === trial.id) return { kind: 'ended' };
  if (trial.reverting !== undefined) return { kind: 'revert', reason: trial.reverting };
  const restarts = trial.boots.length - 1;
  if (restarts > trial.bootsCount) {
    return { kind: 'revert', reason: usedUp(trial, `${restarts} restarts`) };
  }
  const since = trial.boots.find(({ boot }) => boot === now.boot) ?? now;
  const leftMs = trial.deadlineMs - Math.max(0, now.up - since.up) * 1000;
  if (leftMs <= 0) return { kind: 'revert', reason: usedUp(trial, 'not confirmed in time') };
  return { kind: 'goes-on', leftMs, bootsLeft: trial.bootsCount - restarts };
}

/** Whether the trial has seen this boot: then the network and the kubelet may have been started in it. */
export const hasCounted = ({ boots }: Trial, { boot }: BootMoment): boolean =>
  boots.some((each) => each.boot === boot);

/** The trial with this boot among those that it has seen. */
export const withBoot = (trial: Trial, now: BootMoment): Trial =>
  hasCounted(trial, now)
    ? trial
    : { ...trial, boots: [...trial.boots, { boot: now.boot, up: now.up }] };

function usedUp({ what, deadlineMs, bootsCount }: Trial, found: string): FailureData {
  const restarts = bootsCount === 1 ? '1 restart' : `${bootsCount} restarts`;
  return {
    code: 'trial-not-confirmed',
    kind: 'deadline',
    what: `${what} was not confirmed`,
    expected: `within ${Math.round(deadlineMs / 60_000)} minutes after its beginning or a restart of the host, and ${restarts} at most`,
    found,
  };
}
