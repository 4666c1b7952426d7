import type { JournalEntry } from '../../../../lib/engine/steps/journal.ts';

/** A journal's text: an event for each step, with seconds at the end of a run. */
export function journalOf(
  ...events: readonly (readonly [step: string, event: JournalEntry['event'], seconds?: number])[]
): string {
  const entries = events.map(([step, event, seconds]): JournalEntry => {
    const times = seconds === undefined ? {} : { seconds, waited: seconds / 2, cpu: seconds / 4 };
    const at = { at: '2030-01-01T00:00:00.000Z', boot: 'b', up: 1, input: 'i', attempt: 1 };
    return { ...at, step, event, ...times };
  });
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}
