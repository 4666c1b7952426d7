import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { consumedMs } from '../../../../lib/engine/steps/deadline.ts';
import type { JournalEntry } from '../../../../lib/engine/steps/journal.ts';
import type { Progress } from '../../../../lib/engine/steps/progress.ts';
import { done, notYet } from '../../../../lib/engine/steps/step.ts';
import { Bench } from './bench.ts';

const forever = (_context: null, { signal }: Progress) => sleep(100_000, done(), { signal });

t.test('the used part of a deadline', async (t) => {
  type Short = [boot: string, up: number, event: JournalEntry['event'], input?: string];
  const table: [string, Short[], number][] = [
    ['nothing began', [], 0],
    ['since it began', [['now', 40, 'started']], 60],
    [
      'over attempts and their pauses',
      [
        ['now', 10, 'started'],
        ['now', 20, 'attempt-failed'],
        ['now', 70, 'started'],
      ],
      90,
    ],
    [
      'an end makes it fresh',
      [
        ['now', 10, 'started'],
        ['now', 20, 'failed'],
        ['now', 95, 'started'],
      ],
      5,
    ],
    [
      'done makes it fresh',
      [
        ['now', 10, 'started'],
        ['now', 20, 'done'],
      ],
      0,
    ],
    [
      'a retryable failure does not',
      [
        ['now', 10, 'started'],
        ['now', 20, 'attempt-failed'],
      ],
      90,
    ],
    [
      'of another boot what was seen of it',
      [
        ['old', 500, 'started'],
        ['old', 530, 'attempt-failed'],
        ['now', 90, 'started'],
      ],
      40,
    ],
    ['of another boot that was cut at once nothing', [['old', 500, 'started']], 0],
    [
      'boots that went by without this one',
      [
        ['old', 1, 'started'],
        ['old', 4, 'reboot'],
      ],
      3,
    ],
    [
      'not while it was stopped',
      [
        ['now', 10, 'started'],
        ['now', 15, 'stopped'],
        ['now', 90, 'started'],
      ],
      15,
    ],
    [
      'not since it was stopped',
      [
        ['now', 10, 'started'],
        ['now', 15, 'stopped'],
      ],
      5,
    ],
    ['another input does not count', [['now', 10, 'started', 'other']], 0],
    ['a clock that went backwards counts nothing', [['now', 120, 'started']], 0],
    [
      'stops and boots, each with what it had',
      [
        ['old', 10, 'started'],
        ['old', 12, 'attempt-failed'],
        ['old', 13, 'stopped'],
        ['old', 20, 'started'],
        ['old', 25, 'started'],
        ['now', 30, 'started'],
        ['now', 37, 'stopped'],
        ['now', 90, 'started'],
      ],
      3 + 5 + 7 + 10,
    ],
  ];
  for (const [name, entries, seconds] of table) {
    const full = entries.map(([boot, up, event, input = 'i']): JournalEntry => {
      return { at: '', boot, up, step: 'a', input, event, attempt: 1 };
    });
    t.equal(consumedMs(full, 'a', 'i', { boot: 'now', up: 100 }), seconds * 1000, name);
    t.equal(consumedMs(full, 'b', 'i', { boot: 'now', up: 100 }), 0, `${name}: another step`);
  }
});

t.test('a restarted agent gets the rest of the deadline', async (t) => {
  const bench = new Bench(t.testdir());
  t.capture(performance, 'now', () => 1000);
  let left = 0;
  const look = async (_context: null, progress: Progress) => {
    left = progress.remainingMs();
    return done();
  };
  bench.step('a', { deadlineMs: 60_000, runs: [look] });
  await bench.remember({ event: 'started', boot: 'boot-1', up: 60 });
  await bench.run();
  t.equal(left, 20_000, 'of 60 s, 40 s after it began');

  const rebooted = new Bench(t.testdir({})).step('a', { deadlineMs: 60_000, runs: [look] });
  await rebooted.remember(
    { event: 'started', boot: 'boot-0', up: 1000 },
    { event: 'attempt-failed', boot: 'boot-0', up: 1025 },
  );
  await rebooted.run();
  t.equal(left, 35_000, '25 s were used before the reboot');
});

t.test('a deadline that expired between two starts ends the step without running it', async (t) => {
  const bench = new Bench(t.testdir()).step('a', { retry: { delayMs: 1 } });
  await bench.remember(
    // Exact to the millisecond.
    { event: 'started', up: 40 },
    {
      event: 'attempt-failed',
      up: 50,
      failure: { code: 'rpc-failed', kind: 'retry', what: 'the moon is not up' },
    },
  );
  await t.rejects(bench.run(), {
    kind: 'deadline',
    message: 'a: deadline of 60s exceeded; expected the a; found the moon is not up',
  });
  t.strictSame(bench.ran, []);
  t.match((await bench.journal()).entries.at(-1), {
    event: 'failed',
    failure: {
      kind: 'deadline',
      code: 'deadline',
      cause: { code: 'rpc-failed', what: 'the moon is not up' },
    },
  });

  t.strictSame(await bench.run(), { kind: 'done' }, 'the next start has a fresh one');
  t.strictSame(bench.ran, ['a']);
});

t.test('at its deadline a step reports the last observation', async (t) => {
  const table: [string, object, RegExp][] = [
    [
      'a wait',
      {
        runs: [
          (_: null, progress: Progress) => progress.wait('the moon', () => forever(null, progress)),
        ],
      },
      /found still waiting for the moon/,
    ],
    [
      'another attempt',
      { retry: { delayMs: 20_000 }, runs: [notYet('the moon is not up')] },
      /found the moon is not up/,
    ],
    ['nothing', { runs: [forever] }, /^a: deadline of 0s exceeded; expected the a(?!.*found)/],
    ['its last word', { runs: [async () => sleep(80, notYet('clouds'))] }, /found clouds/],
  ];
  for (const [name, options, message] of table) {
    const bench = new Bench(t.testdir()).step('a', { deadlineMs: 60, ...options });
    // The pause between two attempts ends at the deadline.
    setTimeout(() => (bench.now = { boot: 'boot-1', up: 101 }), 40);
    await t.rejects(bench.run(), { kind: 'deadline', message }, name);
  }
});

t.test('a final failure is not hidden by the deadline', async (t) => {
  const late = async () => {
    await sleep(60);
    throw new Failure('fatal', 'the moon fell');
  };
  const bench = new Bench(t.testdir()).step('a', { deadlineMs: 20, runs: [late] });
  await t.rejects(bench.run(), { kind: 'fatal', message: 'a: the moon fell' });
});

t.test('a step that finishes late is still done', async (t) => {
  const late = async () => sleep(60, done());
  const bench = new Bench(t.testdir()).step('a', { deadlineMs: 20, runs: [late] });
  t.strictSame(await bench.run(), { kind: 'done' });
});

t.test('a step that ignores its signal is abandoned after a while', async (t) => {
  const bench = new Bench(t.testdir()).step('a', {
    deadlineMs: 20,
    runs: [() => new Promise(() => {})],
  });
  bench.graceMs = 30;
  await t.rejects(bench.run(), { kind: 'deadline', cause: { message: /still running after/ } });
});

t.test('a postcondition that never answers ends with the step', async (t) => {
  const bench = new Bench(t.testdir()).step('a');
  await bench.run();
  const hung = new Bench(bench.root).step('a', {
    deadlineMs: 20,
    holds: (_context, { signal }) => sleep(100_000, true, { signal }),
  });
  await t.rejects(hung.run(), { kind: 'deadline', message: /^a: / });
});

t.test('told to stop', async (t) => {
  await t.test('during a wait: recorded, and resumed with the remaining time', async (t) => {
    const bench = new Bench(t.testdir());
    const stopped = (context: null, progress: Progress) => {
      setImmediate(() => bench.stop.abort(new Error('stopped by SIGTERM')));
      return forever(context, progress);
    };
    bench.step('a', { runs: [stopped, done()] });
    await t.rejects(bench.run(), { message: 'stopped by SIGTERM' });
    t.strictSame(await bench.story(), ['a started', 'a stopped']);

    const again = new Bench(bench.root).step('a');
    again.now = { boot: 'boot-1', up: 100_000 };
    t.strictSame(await again.run(), { kind: 'done' }, 'however long it was stopped');
  });
  await t.test('during the check whether a step is done', async (t) => {
    const bench = new Bench(t.testdir()).step('a');
    await bench.run();
    const again = new Bench(bench.root).step('a', {
      holds: async () => {
        again.stop.abort(new Error('stop'));
        throw new Error('cannot be read');
      },
    });
    await t.rejects(again.run(), { message: 'cannot be read' });
    t.strictSame(again.ran, []);
    t.strictSame(await again.story(), ['a started', 'a done']);
  });
  await t.test('during the pause between two attempts', async (t) => {
    const bench = new Bench(t.testdir()).step('a', {
      retry: { delayMs: 20_000 },
      runs: [notYet('no moon')],
    });
    const run = bench.run();
    run.catch(() => undefined);
    while (!(await bench.story()).includes('a attempt-failed')) await sleep(5);
    bench.stop.abort(new Error('stop'));
    await t.rejects(run, { message: 'stop' });
    t.strictSame(await bench.story(), ['a started', 'a attempt-failed', 'a stopped']);
  });
  await t.test('while a step is finishing: it counts, and the next does not start', async (t) => {
    const bench = new Bench(t.testdir());
    const stopping = async () => {
      bench.stop.abort(new Error('stop'));
      return done();
    };
    bench.step('a', { runs: [stopping] }).step('b');
    await t.rejects(bench.run(), { message: 'stop' });
    t.strictSame(await bench.story(), ['a started', 'a done']);
  });
});
