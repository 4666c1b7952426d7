import t from 'tap';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { ChangeSignal } from '../../../../lib/base/wait/change-signal.ts';
import type { Limits } from '../../../../lib/base/wait/limits.ts';
import {
  holds,
  lookUntil,
  type NotMet,
  orError,
  type Seen,
  succeeds,
  waitUntil,
} from '../../../../lib/base/wait/wait-until.ts';
import { stopClock } from '../../clients/kube/stopped-clock.ts';
import { thrownBy } from '../errors/thrown-by.ts';

const { signal } = new AbortController();
const late = ({ state, cause }: NotMet) =>
  new Failure('deadline', 'it is not ready', { found: state, cause });
const options = { signal, deadlineMs: 10_000, everyMs: 1000, late };

/** A condition that sees one thing after the other, and the limits that each look got. */
function seeing<T>(...seen: readonly Seen<T>[]) {
  const looks: Limits[] = [];
  const condition = async (limits: Limits) => {
    looks.push(limits);
    const next = seen[Math.min(looks.length, seen.length) - 1];
    if (next === undefined) throw new Error('nothing to see');
    return next;
  };
  return { looks, condition };
}

t.test('looks at once, and then at intervals, until it is so', async (t) => {
  const clock = stopClock(t);
  const at = clock.now;
  t.equal(await waitUntil(seeing({ met: 1 }).condition, options), 1);
  t.equal(clock.now, at, 'without a pause');
  const reports: string[] = [];
  const { condition, looks } = seeing<number>(
    { state: 'a' },
    { state: 'a' },
    { state: 'b' },
    { state: 'a' },
    { met: 7 },
  );
  const waiting = waitUntil(condition, { ...options, report: (text) => reports.push(text) });
  for (const _ of [1, 2, 3, 4]) t.equal(await clock.wake(), 1000);
  t.equal(await waiting, 7);
  t.strictSame(reports, ['a', 'b', 'a'], 'each change once');
  t.strictSame(
    looks.map(({ deadlineMs }) => deadlineMs),
    [10_000, 9000, 8000, 7000, 6000],
    'what is left',
  );
});

t.test('the deadline is kept, and the error has what was seen last', async (t) => {
  const clock = stopClock(t);
  const { condition, looks } = seeing({ state: 'not yet' }, { state: 'nearly' });
  const waiting = thrownBy(waitUntil(condition, { ...options, deadlineMs: 1500 }));
  t.equal(await clock.wake(), 1000);
  t.equal(await clock.wake(), 500, 'no longer than what is left');
  t.match(await waiting, { kind: 'deadline', details: { found: 'nearly' } });
  t.equal(looks.length, 2);
});

t.test('no look begins that would see nothing but its own deadline', async (t) => {
  const clock = stopClock(t);
  for (const [deadlineMs, everyMs, expected] of [
    [1049, 1000, 1],
    [1050, 1000, 2],
    [11, 10, 2],
  ] as const) {
    const { condition, looks } = seeing({ state: 'not yet' });
    const waiting = thrownBy(waitUntil(condition, { ...options, deadlineMs, everyMs }));
    t.equal(await clock.wake(), everyMs);
    if (expected > 1) await clock.wake();
    t.match(await waiting, { kind: 'deadline', details: { found: 'not yet' } });
    t.equal(looks.length, expected);
  }
});

t.test('a deadline that has passed leaves one look', async (t) => {
  stopClock(t);
  const { condition, looks } = seeing({ state: 'no' });
  for (const deadlineMs of [0, -5]) {
    const waiting = waitUntil(condition, { ...options, deadlineMs });
    t.match(await thrownBy(waiting), { kind: 'deadline' });
  }
  t.strictSame(
    looks.map(({ deadlineMs }) => deadlineMs),
    [1, 1],
  );
  const soon = { ...options, deadlineMs: -5 };
  t.equal(await waitUntil(seeing({ met: 'yes' }).condition, soon), 'yes');
});

t.test('a signal ends it at any time, with its reason', async (t) => {
  const clock = stopClock(t);
  const stop = new AbortController();
  const { condition, looks } = seeing({ state: 'no' });
  const waiting = thrownBy(waitUntil(condition, { ...options, signal: stop.signal }));
  await clock.sleeping();
  const reason = new Error('told to stop');
  stop.abort(reason);
  t.equal(await waiting, reason);
  t.equal(await thrownBy(waitUntil(condition, { ...options, signal: stop.signal })), reason);
  t.equal(looks.length, 2, 'the condition itself decides what a look may do');
});

t.test('an error of the condition ends it', async (t) => {
  const error = new Failure('fatal', 'the unit has failed');
  const failing = async () => {
    throw error;
  };
  t.equal(await thrownBy(waitUntil(failing, options)), error);
});

t.test('a change ends the pause', async (t) => {
  const clock = stopClock(t);
  const changes = new ChangeSignal();
  const { condition, looks } = seeing({ state: 'no' }, { state: 'no' }, { met: undefined });
  const waiting = waitUntil(condition, { ...options, changes });
  await clock.sleeping();
  const began = clock.now;
  changes.notify();
  while (looks.length < 2) await new Promise((resolve) => setImmediate(resolve));
  t.equal(clock.now, began, 'at once');
  await clock.sleeping();
  t.equal(await clock.wake(), 1000, 'and without one at the interval');
  await waiting;
});

t.test('a signal also ends a pause that waits for a change', async (t) => {
  const clock = stopClock(t);
  const stop = new AbortController();
  const changes = new ChangeSignal();
  const { condition } = seeing({ state: 'no' });
  const waiting = thrownBy(waitUntil(condition, { ...options, signal: stop.signal, changes }));
  await clock.sleeping();
  stop.abort('ended');
  t.equal(await waiting, 'ended');
});

t.test('the interval may change', async (t) => {
  const clock = stopClock(t);
  let everyMs = 200;
  const { condition } = seeing({ state: 'no' }, { state: 'no' }, { met: undefined });
  const waiting = waitUntil(condition, { ...options, everyMs: () => everyMs });
  await clock.sleeping();
  everyMs = 3000;
  t.equal(await clock.wake(), 200);
  t.equal(await clock.wake(), 3000);
  await waiting;
});

t.test('an attempt is a condition: its last error is the cause', async (t) => {
  const clock = stopClock(t);
  const refused = new Failure('retry', 'refused');
  let attempts = 0;
  const attempt = async () => {
    attempts += 1;
    if (attempts < 3) throw refused;
    return 'answer';
  };
  const waiting = waitUntil(succeeds(attempt), options);
  for (const _ of [1, 2]) await clock.wake();
  t.equal(await waiting, 'answer');
  attempts = -100;
  const failing = thrownBy(waitUntil(succeeds(attempt), { ...options, deadlineMs: 1000 }));
  await clock.wake();
  t.match(await failing, { details: { found: 'refused', cause: refused } });
  const stopped = { ...options, signal: AbortSignal.abort('ended') };
  attempts = -100;
  t.equal(await thrownBy(waitUntil(succeeds(attempt), stopped)), 'ended', 'not the error');
});

t.test('so is what is so or not', async (t) => {
  t.strictSame(await holds(async () => true, 'no')(options), { met: undefined });
  t.strictSame(await holds(async () => false, 'it is not there')(options), {
    state: 'it is not there',
  });
});

t.test('to give up at the deadline need not be an error', async (t) => {
  const clock = stopClock(t);
  const { condition } = seeing({ state: 'not yet' }, { met: 1 });
  const { late: _, ...looking } = options;
  const waiting = lookUntil(condition, { ...looking, deadlineMs: 300 });
  await clock.wake();
  t.strictSame(await waiting, { state: 'not yet' });
  t.strictSame(await lookUntil(condition, looking), { met: 1 });
});

t.test('an error can be a state of any condition', async (t) => {
  const cause = new Failure('retry', 'the runtime restarts');
  const failing = orError(async () => {
    throw cause;
  });
  t.strictSame(await failing(options), { state: 'the runtime restarts', cause });
  t.strictSame(await orError(async () => ({ state: 'no' }))(options), { state: 'no' });
});
