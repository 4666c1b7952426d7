import t from 'tap';
import { recordedSteps, recordSchema } from '../../../../lib/cluster/installation/record.ts';
import type { JournalEntry } from '../../../../lib/engine/steps/journal.ts';

const entry = (
  step: string,
  event: JournalEntry['event'],
  more: Partial<JournalEntry> = {},
): JournalEntry => ({ at: '', boot: 'b', up: 0, input: '', attempt: 1, step, event, ...more });

t.test('a step is recorded once: with its last success and all its starts', async (t) => {
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

const record = {
  schemaVersion: 1,
  version: '1.2.3',
  clusterId: 'c',
  cluster: 'sno.example.com',
  node: 'n1',
  installed: '2030-01-01T00:00:00Z',
  completed: '2030-01-01T01:00:00Z',
  containerRestarts: [{ pod: 'p', container: 'c', count: 1 }],
  steps: [{ agent: 'bootkube', name: 'render', seconds: 1.5, waited: 0.5, cpu: 1, attempts: 2 }],
};

t.test('a record is read unchanged, with every field', async (t) => {
  t.strictSame(recordSchema.parse(record), record);
  const { installed: _, ...unknown } = record;
  t.strictSame(recordSchema.parse(unknown), unknown, 'when the disk was complete may be unknown');
  const accepts = (change: object) => recordSchema.safeParse({ ...record, ...change }).success;
  for (const field of Object.keys(unknown)) t.notOk(accepts({ [field]: undefined }), field);
  for (const part of ['containerRestarts', 'steps'] as const) {
    for (const field of Object.keys(record[part][0] ?? {})) {
      t.notOk(accepts({ [part]: [{ ...record[part][0], [field]: undefined }] }), field);
    }
  }
  const faults = [
    { schemaVersion: 2 },
    { installed: 'yesterday' },
    { completed: 'today' },
    { steps: [{ ...record.steps[0], attempts: 1.5 }] },
    { containerRestarts: [{ ...record.containerRestarts[0], count: 0.5 }] },
  ];
  for (const fault of faults) t.notOk(accepts(fault), JSON.stringify(fault));
});
