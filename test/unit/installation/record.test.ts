import t from 'tap';
import { recordedSteps } from '../../../lib/installation/record.ts';
import type { JournalEntry } from '../../../lib/steps/journal.ts';

const entry = (
  step: string,
  event: JournalEntry['event'],
  more: Partial<JournalEntry> = {},
): JournalEntry => ({ at: '', boot: 'b', up: 0, input: '', attempt: 1, step, event, ...more });

t.test('a step is recorded once: its last success and all its starts', async (t) => {
  const entries = [
    entry('render', 'started'),
    entry('render', 'attempt-failed'),
    entry('render', 'started', { attempt: 2 }),
    entry('render', 'done', { seconds: 5, waited: 1, cpu: 2 }),
    entry('copy', 'started'),
    entry('copy', 'done', { seconds: 3, waited: 0.5, cpu: 0.25 }),
    entry('render', 'started', { attempt: 3 }),
    entry('render', 'done', { seconds: 7, waited: 4, cpu: 6 }),
    entry('render', 'failed'),
    entry('reboot', 'reboot'),
  ];
  t.strictSame(recordedSteps('bootkube', entries), [
    { agent: 'bootkube', name: 'render', seconds: 7, waited: 4, cpu: 6, attempts: 3 },
    { agent: 'bootkube', name: 'copy', seconds: 3, waited: 0.5, cpu: 0.25, attempts: 1 },
    { agent: 'bootkube', name: 'reboot', seconds: 0, waited: 0, cpu: 0, attempts: 0 },
  ]);
  t.strictSame(recordedSteps('bootkube', []), []);
});
