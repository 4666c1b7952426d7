import t from 'tap';
import { Failure } from '../../../lib/errors/failure.ts';
import { EVENTS } from '../../../lib/log/message-ids.ts';
import { done, notYet } from '../../../lib/steps/step.ts';
import { Bench } from './bench.ts';

const fieldsOf = (entry: string): Record<string, string> =>
  Object.fromEntries(
    entry
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

t.test('programs follow a plan by its events', async (t) => {
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
