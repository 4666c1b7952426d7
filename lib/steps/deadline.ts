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
  const seconds = unbrokenRuns(open).map((run) => {
    const first = run[0];
    const last = run.at(-1);
    if (first === undefined || last === undefined) return 0;
    const goesOn = last.event !== 'stopped' && last.boot === now.boot && last === open.at(-1);
    return Math.max(0, (goesOn ? now.up : last.up) - first.up);
  });
  return seconds.reduce((sum, part) => sum + part, 0) * 1000;
}

/** Cuts entries where the agent was told to stop and where another boot begins. */
function unbrokenRuns(entries: readonly JournalEntry[]): JournalEntry[][] {
  const runs: JournalEntry[][] = [];
  for (const entry of entries) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    const cut = last === undefined || last.event === 'stopped' || last.boot !== entry.boot;
    if (cut || run === undefined) runs.push([entry]);
    else run.push(entry);
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
 * Whether the last word of the journal on this step is that it was done, for this
 * input. A run started since then and interrupted may have undone it.
 */
export function recordedDone(
  entries: readonly JournalEntry[],
  step: string,
  input: string,
): boolean {
  const last = entries.findLast((entry) => entry.step === step);
  return last?.event === 'done' && last.input === input;
}
