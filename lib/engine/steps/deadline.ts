import type { BootMoment } from '../../host/boot-moment.ts';
import type { JournalEntry } from './journal.ts';

/**
 * How much of its deadline a step has used up, in milliseconds, across restarts of
 * the agent and the host: from the first `started` after the step last ended. For
 * an earlier boot, only the time covered by journal entries counts; the time
 * between a stop and the next start does not.
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

/** The first and last entry of each run between stops of the agent and boots. */
function unbrokenRuns(entries: readonly JournalEntry[]) {
  const runs: { readonly first: JournalEntry; last: JournalEntry }[] = [];
  for (const entry of entries) {
    const run = runs.at(-1);
    if (run?.last.boot === entry.boot && run.last.event !== 'stopped') run.last = entry;
    else runs.push({ first: entry, last: entry });
  }
  return runs;
}

/** The entries of a step since it last ended; empty if it starts with a fresh deadline. */
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
 * Whether the step's last journal entry is `done`, for this input. A later run that
 * was interrupted may have undone it.
 */
export function recordedDone(
  entries: readonly JournalEntry[],
  step: string,
  input: string,
): boolean {
  const last = entries.findLast((entry) => entry.step === step);
  return last?.event === 'done' && last.input === input;
}
