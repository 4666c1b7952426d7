import type { JournalEntry } from './journal.ts';

/** A moment on the clock that runs from boot: seconds since the boot with that id. */
export interface BootMoment {
  readonly boot: string;
  readonly up: number;
}

/**
 * How much of its deadline a step has used up, in milliseconds, counted over
 * restarts of the agent and of the host: from the first `started` after the step
 * last ended. Of an earlier boot only what the journal saw of it can count.
 */
export function consumedMs(
  entries: readonly JournalEntry[],
  step: string,
  input: string,
  now: BootMoment,
): number {
  const open = currentAttempts(entries, step, input);
  const boots = [...new Set(open.map((entry) => entry.boot))];
  const seconds = boots.map((boot) => {
    const times = open.filter((entry) => entry.boot === boot).map((entry) => entry.up);
    const end = boot === now.boot ? now.up : Math.max(...times);
    return Math.max(0, end - Math.min(...times));
  });
  return seconds.reduce((sum, part) => sum + part, 0) * 1000;
}

/** The entries of a step since it last ended: empty when it is to begin with a fresh deadline. */
export function currentAttempts(
  entries: readonly JournalEntry[],
  step: string,
  input: string,
): JournalEntry[] {
  const own = entries.filter((entry) => entry.step === step && entry.input === input);
  const ended = own.findLastIndex((entry) => entry.event === 'done' || entry.event === 'failed');
  return own.slice(ended + 1);
}

/** Whether the last word of the journal on this step, for this input, is that it was done. */
export function recordedDone(
  entries: readonly JournalEntry[],
  step: string,
  input: string,
): boolean {
  return (
    entries.findLast((entry) => entry.step === step && entry.event === 'done')?.input === input
  );
}
