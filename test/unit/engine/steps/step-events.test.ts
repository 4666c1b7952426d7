import t from 'tap';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import type { EventLog } from '../../../../lib/base/log/agent-log.ts';
import { EVENTS } from '../../../../lib/base/log/message-ids.ts';
import { done, notYet } from '../../../../lib/engine/steps/step.ts';
import { StepEvents } from '../../../../lib/engine/steps/step-events.ts';
import { Bench } from './bench.ts';

const fieldsOf = (entry: string): Record<string, string> =>
  Object.fromEntries(
    entry
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

t.test('each event has a sentence, and the position of its step in the plan', async (t) => {
  const told: unknown[][] = [];
  const log: EventLog = { event: async (...event) => void told.push(event) };
  const events = new StepEvents(log, ['a', 'b', 'c']);
  const failure = new Failure('fatal', 'wrong disk', { code: 'disk-in-use', found: 'swap' });
  const place = { step: 'b', stepNumber: 2, steps: 3 };
  const facts = { code: 'disk-in-use', kind: 'fatal', what: 'wrong disk', found: 'swap' };
  const times = { seconds: 1.5, waited: 1, cpu: 0.25 };
  await events.alreadyDone('b');
  await events.started('b', 2, 61_500);
  await events.waiting('b', 'the API', 61_500);
  await events.retried('b', 2, failure);
  await events.done('b', { ...times, note: 'three files' });
  await events.done('b', times);
  await events.failed('b', 3, failure);
  // Unset fields are omitted.
  t.strictSame(JSON.parse(JSON.stringify(told)), [
    ['step-already-done', 'b: already done', place],
    ['step-started', 'b: started', { ...place, attempt: 2, left: 62 }],
    ['step-waiting', 'b: waiting for the API', { ...place, waitingFor: 'the API', left: 62 }],
    ['step-retry', 'b: not yet: wrong disk; found swap', { ...place, attempt: 2, ...facts }],
    ['step-done', 'b: done, three files', { ...place, ...times }],
    ['step-done', 'b: done', { ...place, ...times }],
    ['step-failed', 'b: failed', { ...place, attempt: 3, ...facts }],
  ]);
});

t.test('programs can follow a plan by its events', async (t) => {
  t.capture(performance, 'now', () => 5000);
  const bench = new Bench(t.testdir());
  bench.priorities = true;
  await bench.remember({ step: 'a' }, { step: 'a', event: 'done' });
  bench.present.add('a');
  const wait: Parameters<Bench['step']>[1] = {
    retry: { delayMs: 1 },
    runs: [
      notYet('the moon is not up'),
      notYet('the moon is not up'),
      async (_, progress) => progress.wait('the moon', async () => done('full')),
    ],
  };
  const failure = new Failure('fatal', 'wrong disk', {
    code: 'postcondition',
    expected: '/dev/vda',
    found: 'token=hunter2',
    fix: 'Change it.',
    cause: new Error('EBUSY'),
  });
  bench
    .step('a')
    .step('b', wait)
    .step('c', {
      runs: [
        async () => {
          throw failure;
        },
      ],
    });
  await t.rejects(bench.run(), { message: /wrong disk/ });
  const events = bench.entries.map(fieldsOf);
  t.strictSame(
    events.map(({ EVENT, STEP, STEP_NUMBER, STEPS }) => [EVENT, STEP, STEP_NUMBER, STEPS]),
    [
      ['step-already-done', 'a', '1', '3'],
      ['step-started', 'b', '2', '3'],
      ['step-retry', 'b', '2', '3'],
      ['step-waiting', 'b', '2', '3'],
      ['step-done', 'b', '2', '3'],
      ['step-started', 'c', '3', '3'],
      ['step-failed', 'c', '3', '3'],
    ],
  );
  const [, started, retried, waiting, ended, , failed] = events;
  t.match(started, { MESSAGE: 'b: started attempt=1 left=60s', ATTEMPT: '1', LEFT_SECONDS: '60' });
  t.match(retried, { WHAT: 'the moon is not up', KIND: 'retry', CODE: 'unavailable' });
  t.match(waiting, { MESSAGE: 'b: waiting for the moon left=60s', WAITING_FOR: 'the moon' });
  t.match(ended?.MESSAGE, /^b: done, full seconds=[\d.]+s$/);
  t.match(ended, { SECONDS: /^[\d.]+$/, WAITED_SECONDS: /^[\d.]+$/, CPU_SECONDS: /^[\d.]+$/ });
  t.match(failed, {
    MESSAGE: 'c: failed attempt=1 code=postcondition',
    PRIORITY: '3',
    MESSAGE_ID: EVENTS['step-failed'].id,
    CODE: 'postcondition',
    KIND: 'fatal',
    WHAT: 'wrong disk',
    EXPECTED: '/dev/vda',
    FOUND: 'token=<redacted>',
    FIX: 'Change it.',
    CAUSE: 'EBUSY',
  });
  t.equal(bench.lines.length, bench.entries.length, 'one line each');
});
