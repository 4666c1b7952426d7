import { type FileHandle, open, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { describeError, Failure } from '../../../../lib/base/errors/failure.ts';
import { done, notYet, reboot } from '../../../../lib/engine/steps/step.ts';
import { Bench, type Body } from './bench.ts';

const retry = { delayMs: 1 };

t.test('steps run in order, and their outcomes end the run or not', async (t) => {
  await t.test('done', async (t) => {
    const bench = new Bench(t.testdir()).step('a', { runs: [done('three files')] }).step('b');
    t.strictSame(await bench.run(), { kind: 'done' });
    t.strictSame(bench.ran, ['a', 'b']);
    t.strictSame(await bench.story(), ['a started', 'a done', 'b started', 'b done']);
    t.strictSame(bench.announced, ['a', 'b']);
    t.strictSame(bench.stages().slice(0, 4), [
      ...['stage start a', 'stage end a success', 'stage start b', 'stage end b success'],
    ]);
    const entry = (await bench.journal()).entries[1];
    t.match(entry, {
      note: 'three files',
      seconds: Number,
      waited: 0,
      cpu: Number,
      boot: 'boot-1',
    });
    t.match(bench.lines.join(''), /^a: done, three files /m);
  });
  await t.test('not yet, with a retry', async (t) => {
    const bench = new Bench(t.testdir()).step('a', { retry, runs: [notYet('no moon'), done()] });
    t.strictSame(await bench.run(), { kind: 'done' });
    t.strictSame(await bench.story(), ['a started', 'a attempt-failed', 'a started', 'a done']);
    t.strictSame(bench.announced, ['a'], 'once, whatever the attempts');
    t.match((await bench.journal()).entries[1], {
      failure: { kind: 'retry', code: 'unavailable', what: 'no moon' },
      attempt: 1,
    });
    t.equal((await bench.journal()).entries[3]?.attempt, 2);
  });
  await t.test('not yet, without a retry', async (t) => {
    const bench = new Bench(t.testdir()).step('a', { runs: [notYet('no moon')] }).step('b');
    await t.rejects(bench.run(), { kind: 'retry', message: 'a: no moon' });
    t.strictSame(await bench.story(), ['a started', 'a attempt-failed']);
    t.strictSame(bench.announced, ['a'], 'it can be started again');
  });
  await t.test('failed permanently, also where there is a retry', async (t) => {
    const fallen = async () => {
      throw new Failure('fatal', 'the moon fell', { fix: 'Buy one.' });
    };
    const bench = new Bench(t.testdir()).step('a', { retry, runs: [fallen] }).step('b');
    await t.rejects(bench.run(), { kind: 'fatal', message: 'a: the moon fell. Buy one.' });
    t.strictSame(bench.ran, ['a']);
    t.strictSame(await bench.story(), ['a started', 'a failed']);
    t.strictSame(bench.announced, ['a', 'a: the moon fell. Buy one.']);
    t.strictSame(bench.stages().slice(0, 2), [
      'stage start a',
      'stage end a failure the moon fell. Buy one.',
    ]);
  });
  await t.test('reboot, and the same step again after it', async (t) => {
    const bench = new Bench(t.testdir()).step('a', { runs: [reboot('kernel'), done()] }).step('b');
    t.strictSame(await bench.run(), { kind: 'reboot', reason: 'kernel' });
    t.strictSame(bench.ran, ['a']);
    t.match((await bench.journal()).entries.at(-1), { reason: 'kernel' });
    t.strictSame(bench.stages().slice(0, 2), ['stage start a', 'stage end a success']);
    bench.now = { boot: 'boot-2', up: 5 };
    t.strictSame(await bench.run(), { kind: 'done' });
    t.strictSame(await bench.story(), [
      'a started',
      'a reboot',
      'a started',
      'a done',
      'b started',
      'b done',
    ]);
  });
  await t.test('a step that ran without its postcondition', async (t) => {
    const bench = new Bench(t.testdir()).step('a', { holds: async () => false }).step('b');
    await t.rejects(bench.run(), {
      kind: 'retry',
      code: 'postcondition',
      message: 'a: postcondition not met; expected the a',
    });
    t.strictSame(await bench.story(), ['a started', 'a attempt-failed']);
  });
});

t.test(
  'the kind of a thrown failure decides; the step is named once and the cause kept',
  async (t) => {
    const cause = new Error('the cause');
    const table: [unknown, string, string][] = [
      [
        new TypeError('x is no function', { cause }),
        'bug',
        'a: internal error: x is no function: the cause. This is a bug: please report it with the log bundle ("gather").',
      ],
      [new Error('x', { cause }), 'retry', 'a: x: the cause'],
      [new Failure('usage', 'moon.yaml: bad', { cause }), 'usage', 'a: moon.yaml: bad: the cause'],
      [new Failure('fatal', 'no', { fix: 'Go.', cause }), 'fatal', 'a: no. Go.: the cause'],
      [new Failure('deadline', 'waited', { cause }), 'deadline', 'a: waited: the cause'],
      [new Failure('retry', 'busy', { cause }), 'retry', 'a: busy: the cause'],
      ['a mere word', 'retry', 'a: a mere word'],
    ];
    for (const [thrown, kind, text] of table) {
      const bench = new Bench(t.testdir()).step('a', { runs: [() => Promise.reject(thrown)] });
      const error = await bench.run().catch((error: unknown) => error);
      t.match(error, { kind }, text);
      t.equal(describeError(error), text);
      t.equal(
        (await bench.journal()).entries.at(-1)?.event,
        kind === 'retry' ? 'attempt-failed' : 'failed',
      );
      if (thrown instanceof Error) {
        let at: unknown = error;
        while (at instanceof Error && at !== cause) at = at.cause;
        t.equal(at, cause, 'the cause itself can be reached');
      }
    }
    const inputs = new Bench(t.testdir()).step('a', {
      input: () => {
        throw new Error('no cluster.json');
      },
    });
    await t.rejects(inputs.run(), { kind: 'retry', message: 'a: no cluster.json' });
  },
);

t.test('the journal contains how long a step took, waited and computed', async (t) => {
  const clock = { ms: 5000, cpu: { user: 1_500_000, system: 250_400 } };
  t.capture(performance, 'now', () => clock.ms);
  t.capture(process, 'cpuUsage', (before = { user: 0, system: 0 }) => ({
    user: clock.cpu.user - before.user,
    system: clock.cpu.system - before.system,
  }));
  const body: Body = async (_context, progress) => {
    clock.ms += 2500.4;
    await progress.wait('the moon', async () => {
      clock.ms += 1000.3;
    });
    return done();
  };
  const second: Body = async () => {
    clock.cpu = { user: 1_600_000, system: 350_400 };
    return done();
  };
  const bench = new Bench(t.testdir()).step('a', { runs: [body] }).step('b', { runs: [second] });
  await bench.run();
  t.match(
    (await bench.journal()).entries.filter(({ event }) => event === 'done'),
    [
      { step: 'a', seconds: 3.501, waited: 1, cpu: 1.75 },
      { step: 'b', seconds: 0, waited: 0, cpu: 0.2 },
    ],
  );
});

t.test('the input of a later step that never ran is not read', async (t) => {
  const input = () => {
    throw new Error('there is no snapshot yet');
  };
  const bench = new Bench(t.testdir()).step('first').step('a', { neededUntil: 'b' });
  await t.rejects(bench.step('b', { input }).run(), { message: 'b: there is no snapshot yet' });
  t.strictSame(bench.ran, ['first', 'a']);
});

t.test('the input of a step whose result was consumed is not read', async (t) => {
  let isThere = true;
  const input = () => {
    if (!isThere) throw new Error('it was deleted');
    return 'a';
  };
  const bench = new Bench(t.testdir())
    .step('a', { input, neededUntil: 'b' })
    .step('b', { neededUntil: 'c' })
    .step('c');
  await bench.run();
  isThere = false;
  bench.present.delete('b');
  await bench.run();
  t.strictSame(bench.ran, [], 'nor that of one that was consumed by a consumed one');
  await t.rejects(bench.run({ from: 'a' }), { message: 'a: it was deleted' }, 'by hand it is');
});

t.test('unknown errors are retried if the step is', async (t) => {
  const broken = () => Promise.reject(new Error('reset'));
  const runs = [...Array.from({ length: 9 }, () => broken), done()];
  const bench = new Bench(t.testdir()).step('a', { retry, runs });
  t.strictSame(await bench.run(), { kind: 'done' });
  t.equal(bench.ran.length, 10);
});

t.test(
  'a programming error gets three attempts, also across restarts, and leaves its stack',
  async (t) => {
    const broken = () => Promise.reject(new TypeError('x is no function'));
    const twice = new Bench(t.testdir({})).step('a', { retry, runs: [broken, broken, done()] });
    t.strictSame(await twice.run(), { kind: 'done' }, 'one of a moment passes');

    const bench = new Bench(t.testdir({})).step('a', { retry, runs: [broken] });
    bench.priorities = true;
    await bench.remember({ event: 'started' }, { event: 'attempt-failed' });
    await t.rejects(bench.run(), { kind: 'bug', code: 'bug' });
    t.equal(bench.ran.length, 2);
    const { entries } = await bench.journal();
    t.match(entries.at(-1), {
      event: 'failed',
      failure: { kind: 'bug', stack: /runner\.test\.ts/ },
    });
    const stack = bench.lines.filter((line) => line.includes('runner.test.ts'));
    t.equal(stack.length, 2, 'the journal has the stack of each attempt');
    for (const line of stack) t.match(line, /^<7>/, 'at debug priority');
  },
);

t.test('a step that ends otherwise after a permanent failure does not end the plan', async (t) => {
  const seen: string[] = [];
  const instead = async (_context: null, { what }: Failure) => {
    seen.push(what);
    return `ended by ${what}`;
  };
  const fatal = () => Promise.reject(new Failure('fatal', 'a fall'));
  const bench = new Bench(t.testdir()).step('a', { instead, runs: [fatal] }).step('b');
  t.strictSame(await bench.run(), { kind: 'done' });
  t.strictSame(await bench.story(), ['a started', 'a done', 'b started', 'b done']);
  t.equal((await bench.journal()).entries[1]?.note, 'ended by a fall');
  const busy = () => Promise.reject(new Failure('retry', 'busy'));
  const open = new Bench(t.testdir()).step('a', { instead, runs: [busy] });
  await t.rejects(open.run(), { kind: 'retry', message: 'a: busy' }, 'it can be started again');
  t.equal(seen.length, 1);
});

t.test('a done step is skipped only for the same input and while it holds', async (t) => {
  let input = 'one';
  const bench = new Bench(t.testdir()).step('a', { input: () => ({ input }) }).step('b');
  await bench.run();
  await bench.run();
  t.strictSame(bench.ran, [], 'same input, and it holds');
  t.strictSame(bench.looked, ['a', 'b'], 'the host was asked, not only the journal');

  bench.present.delete('a');
  await bench.run();
  t.strictSame(bench.ran, ['a'], 'it does not hold any more');

  input = 'two';
  await bench.run();
  t.strictSame(bench.ran, ['a'], 'another input');
  input = 'one';
  await bench.run();
  t.strictSame(bench.ran, ['a'], 'the input of before is another one again');

  const foreign = new Bench(t.testdir()).step('a');
  foreign.present.add('a');
  await foreign.run();
  t.strictSame(foreign.ran, ['a'], 'it holds, but the journal does not have it as done');
});

t.test('a step that removes the state of its agent leaves no journal behind', async (t) => {
  const bench = new Bench(t.testdir());
  const remove = async () => {
    await rm(`${bench.root}/journal.jsonl`);
    return done();
  };
  bench.step('a').step('retire', { removesState: true, runs: [remove] });
  t.strictSame(await bench.run(), { kind: 'done' });
  t.strictSame(await bench.story(), []);
});

t.test('a done step whose next run was interrupted no longer counts as done', async (t) => {
  const bench = new Bench(t.testdir()).step('a');
  await bench.run();
  await bench.remember({ step: 'a', event: 'started' });
  await bench.run();
  t.strictSame(bench.ran, ['a']);
});

t.test('a step is not checked once the later one that needed it is done', async (t) => {
  const bench = new Bench(t.testdir())
    .step('etcd', { neededUntil: 'snapshot' })
    .step('fill', { neededUntil: 'snapshot' })
    .step('snapshot')
    .step('end');
  await bench.run();
  bench.present.delete('etcd');
  bench.present.delete('fill');
  await bench.run();
  t.strictSame(bench.ran, []);
  t.notOk(bench.looked.includes('etcd'), 'etcd is not even looked at');

  bench.present.delete('snapshot');
  await bench.run();
  t.strictSame(bench.ran, ['etcd', 'fill', 'snapshot'], 'the snapshot is gone: all of it again');

  bench.present.delete('etcd');
  await bench.remember({ step: 'snapshot', event: 'started' });
  await bench.run();
  t.strictSame(bench.ran, ['etcd', 'snapshot'], 'a snapshot that was cut is none');

  const wrong = new Bench(t.testdir()).step('a', { neededUntil: 'nowhere' });
  await t.rejects(wrong.run(), { kind: 'fatal', message: 'a: the plan has no step nowhere' });
});

t.test('--from and --until', async (t) => {
  const bench = new Bench(t.testdir()).step('a').step('b').step('c').step('d');
  const cases: [object, string[]][] = [
    [{ until: 'b' }, ['a', 'b']],
    [{ from: 'b', until: 'b' }, ['b']],
    [{ from: 'd' }, ['d']],
    [{ from: 'b' }, ['b', 'c']],
  ];
  for (const [range, ran] of cases) {
    await bench.run(range);
    t.strictSame(bench.ran, ran, JSON.stringify(range));
  }
  const bad: [object, RegExp][] = [
    [{ from: 'x' }, /bench has no step x; expected one of a, b, c, d/],
    [{ until: 'y' }, /bench has no step y/],
    [{ from: 'c', until: 'b' }, /step c comes after step b/],
  ];
  for (const [range, message] of bad) {
    await t.rejects(bench.run(range), { kind: 'usage', message }, JSON.stringify(range));
    t.strictSame(bench.ran, []);
  }
});

t.test('each transition is synced before the next step starts', async (t) => {
  const bench = new Bench(t.testdir());
  const handle = await open(`${t.testdir({ probe: '' })}/probe`);
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  const events: string[] = [];
  const { datasync } = prototype;
  t.intercept(prototype, 'datasync', {
    value: async function (this: FileHandle) {
      const { size } = await this.stat();
      await sleep(20);
      await datasync.call(this);
      events.push(`synced ${size > 0 ? 'a line' : 'nothing'}`);
    },
  });
  const body = async () => {
    events.push('step');
    return done();
  };
  bench.step('a', { runs: [body] }).step('b', { runs: [body] });
  await bench.run();
  const synced = 'synced a line';
  t.strictSame(events, [synced, 'step', synced, synced, 'step', synced]);
});
