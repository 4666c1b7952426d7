import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { deadlineTimer, endedBy } from '../../../../lib/engine/steps/deadline-timer.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';

const DAY = 86_400_000;
const TIMER = join(import.meta.dirname, '../../../../lib/engine/steps/deadline-timer.ts');

/** Node's timers, advanced manually; like Node's, they are limited to 2^31 - 1 ms, and longer ones fire at once. */
function fakeTimers(t: Pick<typeof t_, 'teardown'>) {
  const { setTimeout: real, clearTimeout: realClear } = globalThis;
  const waiting = new Map<object, { at: number; fire: () => void }>();
  let now = 0;
  const fake = (fire: () => void, ms = 0) => {
    const timer = {};
    waiting.set(timer, { at: now + (ms > 2 ** 31 - 1 ? 1 : ms), fire });
    return timer;
  };
  Object.assign(globalThis, {
    setTimeout: fake,
    clearTimeout: (timer: object) => waiting.delete(timer),
  });
  t.teardown(() => Object.assign(globalThis, { setTimeout: real, clearTimeout: realClear }));
  const advance = (ms: number) => {
    const end = now + ms;
    for (;;) {
      const [next] = [...waiting]
        .filter(([, { at }]) => at <= end)
        .sort(([, a], [, b]) => a.at - b.at);
      if (next === undefined) break;
      const [timer, { at, fire }] = next;
      waiting.delete(timer);
      now = at;
      fire();
    }
    now = end;
  };
  return { advance, waiting };
}
const t_ = t;

t.test('a deadline fires on time and not before, however far away it is', async (t) => {
  const { advance, waiting } = fakeTimers(t);
  for (const ms of [1000, 24 * DAY, 25 * DAY, 100 * DAY]) {
    const { signal } = deadlineTimer(ms);
    advance(ms - 1);
    t.equal(signal.aborted, false, `${ms} ms: one before`);
    advance(1);
    t.equal(signal.aborted, true, `${ms} ms`);
    t.match(signal.reason, { name: 'TimeoutError', message: 'deadline exceeded' });
  }
  const past = deadlineTimer(-5);
  t.equal(past.signal.aborted, false);
  advance(1);
  t.equal(past.signal.aborted, true, 'a deadline that is over fires at once');
  {
    using timer = deadlineTimer(DAY);
    t.equal(timer.signal.aborted, false);
  }
  t.equal(waiting.size, 0, 'it ends with its block');
});

t.test('a deadline keeps the process alive', async (t) => {
  const script = `
    import { deadlineTimer } from ${JSON.stringify(TIMER)};
    deadlineTimer(300).signal.addEventListener('abort', () => console.log('fired'));`;
  const args = ['--input-type=module', '--eval', script];
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 });
  t.equal(stdout, 'fired\n');
});

t.test('work that ignores its signal is abandoned after a grace period', async (t) => {
  const { advance, waiting } = fakeTimers(t);
  const never = new Promise(() => {});
  const stop = new AbortController();
  const waits = thrownBy(endedBy(stop.signal, 5000, never));
  advance(60_000);
  t.equal(waiting.size, 0, 'nothing is counted before the signal');
  stop.abort();
  t.equal([...waiting.values()][0]?.at, 65_000);
  advance(5000);
  t.match(await waits, { kind: 'retry', code: 'not-ended' });

  const late = thrownBy(endedBy(AbortSignal.abort(), 5000, never));
  advance(5000);
  t.match(await late, { code: 'not-ended' }, 'a signal that fired before');

  const another = new AbortController();
  t.equal(await endedBy(another.signal, 5000, Promise.resolve('done')), 'done');
  another.abort();
  t.equal(waiting.size, 0, 'nothing is counted after the end');
  await t.rejects(
    endedBy(AbortSignal.abort(), 5000, Promise.reject(new Error('its own'))),
    /its own/,
  );
  t.equal(waiting.size, 0);
});
