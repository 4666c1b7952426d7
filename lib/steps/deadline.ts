import type { JournalEntry } from './journal.ts';

/** A moment on the clock that runs from boot: seconds since the boot with that id. */
export interface BootMoment {
  readonly boot: string;
  readonly up: number;
}

/**
 * How much of its deadline a step has used up, in milliseconds, counted over
 * restarts of the agent and of the host: from the first `started` after the step
 * last ended. Of an earlier boot only what the journal saw of it can count; the time
 * between being told to stop and being started again does not.
 */
export function consumedMs(
  entries: readonly JournalEntry[],
  step: string,
  input: string,
  now: BootMoment,
): number {
  const open = currentAttempts(entries, step, input);
  const seconds = unbrokenRuns(open).map(({ first, last }) => {
    const goesOn = last.event !== 'stopped' && last.boot === now.boot && last === open.at(-1);
    return Math.max(0, (goesOn ? now.up : last.up) - first.up);
  });
  return seconds.reduce((sum, part) => sum + part, 0) * 1000;
}

/** The first and the last entry of each stretch that no stop of the agent and no boot cuts. */
function unbrokenRuns(entries: readonly JournalEntry[]) {
  const runs: { readonly first: JournalEntry; last: JournalEntry }[] = [];
  for (const entry of entries) {
    const run = runs.at(-1);
    if (run?.last.boot === entry.boot && run.last.event !== 'stopped') run.last = entry;
    else runs.push({ first: entry, last: entry });
  }
  return runs;
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

/**
 * Whether the last entry of the journal for this step says that it was done, for this
 * input. A run that was started since and interrupted may have undone it.
 */
export function recordedDone(
  entries: readonly JournalEntry[],
  step: string,
  input: string,
): boolean {
  const last = entries.findLast((entry) => entry.step === step);
  return last?.event === 'done' && last.input === input;
}
