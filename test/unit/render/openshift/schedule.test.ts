import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { runTasks } from '../../../../lib/render/openshift/schedule.ts';
import { stopClock } from '../../clients/kube/stopped-clock.ts';

const task = (name: string, ...after: string[]) => ({ name, after: new Set(after) });
const never = new AbortController().signal;

/** Runs that end when the test says so. */
class Runs {
  readonly started: string[] = [];
  readonly stopped: string[] = [];
  readonly #ends = new Map<string, PromiseWithResolvers<void>>();

  readonly run = async ({ name }: { name: string }, signal: AbortSignal) => {
    this.started.push(name);
    const end = Promise.withResolvers<void>();
    this.#ends.set(name, end);
    signal.addEventListener('abort', () => {
      if (this.#ends.has(name)) this.stopped.push(name);
      end.reject(signal.reason);
    });
    await end.promise;
  };

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.resolve();
    await nextTurn();
  }

  async fail(name: string, error: Error): Promise<void> {
    this.#ends.get(name)?.reject(error);
    this.#ends.delete(name);
    await nextTurn();
  }
}

t.test('a task starts as soon as those before it have ended', async (t) => {
  const runs = new Runs();
  const tasks = [task('a'), task('b'), task('c', 'a'), task('d', 'a', 'b')];
  const all = runTasks({ tasks, limit: 9, signal: never, run: runs.run });
  t.same(runs.started, ['a', 'b']);
  await runs.end('a');
  t.same(runs.started, ['a', 'b', 'c'], 'd still waits for b');
  await runs.end('b');
  t.same(runs.started, ['a', 'b', 'c', 'd']);
  await runs.end('d');
  await runs.end('c');
  await all;
});

t.test('no more than the limit run at once, in their order', async (t) => {
  const runs = new Runs();
  const tasks = [task('a'), task('b'), task('c'), task('d', 'b')];
  const all = runTasks({ tasks, limit: 2, signal: never, run: runs.run });
  t.same(runs.started, ['a', 'b']);
  await runs.end('b');
  t.same(runs.started, ['a', 'b', 'c']);
  await runs.end('a');
  t.same(runs.started, ['a', 'b', 'c', 'd']);
  await runs.end('c');
  await runs.end('d');
  await all;
});

t.test('what runs is reported once it has run for a moment', async (t) => {
  const clock = stopClock(t);
  const runs = new Runs();
  const seen: string[] = [];
  const all = runTasks({
    tasks: [task('a'), task('b'), task('c', 'b')],
    limit: 2,
    signal: never,
    run: runs.run,
    running: (names, ended) => seen.push(`${ended}: ${names.join(' ')}`),
  });
  await clock.wake();
  await runs.end('b');
  await runs.end('a');
  await clock.wake();
  await runs.end('c');
  await all;
  t.same(seen, ['0: a b', '2: c'], 'not the moment in which a and c ran');
});

t.test(
  'after a failure nothing is started, the others are told to stop, and it is thrown',
  async (t) => {
    const runs = new Runs();
    const tasks = [task('a'), task('b'), task('c'), task('d', 'a')];
    const all = runTasks({ tasks, limit: 2, signal: never, run: runs.run });
    const rejected = t.rejects(all, { message: 'a failed' });
    await runs.fail('a', new Error('a failed'));
    await rejected;
    t.same(runs.started, ['a', 'b']);
    t.same(runs.stopped, ['b'], 'and awaited');
  },
);

t.test('the reason of an abort is thrown', async (t) => {
  const runs = new Runs();
  const stop = new AbortController();
  const all = runTasks({
    tasks: [task('a'), task('b', 'a')],
    limit: 1,
    signal: stop.signal,
    run: runs.run,
  });
  const rejected = t.rejects(all, { message: 'deadline' });
  stop.abort(new Error('deadline'));
  await rejected;
  t.same(runs.started, ['a']);
  const before = runTasks({ tasks: [task('x')], limit: 1, signal: stop.signal, run: runs.run });
  await t.rejects(before, { message: 'deadline' });
  t.same(runs.started, ['a'], 'nothing starts after it');
});

t.test('tasks that can never start are named', async (t) => {
  const runs = new Runs();
  const tasks = [task('a', 'b'), task('b', 'a')];
  await t.rejects(runTasks({ tasks, limit: 2, signal: never, run: runs.run }), {
    message: 'never ready: a, b',
  });
  await runTasks({ tasks: [], limit: 2, signal: never, run: runs.run });
});
