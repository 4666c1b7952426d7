import type { Progress } from '../../lib/engine/steps/progress.ts';

const FIRST_PAUSE_MS = 5000;

/** When to ask a server again that serves a whole fleet, within the time of a step. */
export interface Pauses {
  /** The longest time between two attempts: it is doubled up to this. */
  readonly longestMs: number;
  /** What is left of the step's time when its body ends by itself. */
  readonly marginMs: number;
}

export const leftOf = (progress: Progress, { marginMs }: Pauses): number =>
  Math.max(1, progress.remainingMs() - marginMs);

/** Half of it is random: not every node of a fleet asks a server at once that is up again. */
export function pauseAfter(failed: number, { longestMs }: Pauses): number {
  const longest = Math.min(longestMs, FIRST_PAUSE_MS * 2 ** (failed - 1));
  return longest * (0.5 + Math.random() / 2);
}
