import t, { type Test } from 'tap';
import { createLogger } from '../../../../lib/base/log/logger.ts';
import { Progress } from '../../../../lib/engine/steps/progress.ts';

/** A progress with a stopped clock that the test advances. */
function progress(t: Test, isNews: boolean) {
  const clock = { now: 1000 };
  t.capture(performance, 'now', () => clock.now);
  const lines: string[] = [];
  const waits: (string | undefined)[] = [];
  const { signal } = new AbortController();
  const log = createLogger({ write: (line) => lines.push(line), priorities: false });
  const troubles: (string | undefined)[] = [];
  const listener = {
    trouble: (sentence: string | undefined) => void troubles.push(sentence),
    waiting: (description: string | undefined) => {
      waits.push(description);
      return isNews;
    },
  };
  return {
    it: new Progress(signal, 61_400.6, log, listener),
    clock,
    lines,
    waits,
    troubles,
    signal,
  };
}

t.test('a step gets its signal and its remaining time', async (t) => {
  const { it, clock, signal } = progress(t, true);
  t.equal(it.signal, signal);
  t.equal(it.remainingMs(), 60_401);
  clock.now = 61_400;
  t.equal(it.remainingMs(), 1);
  clock.now = 70_000;
  t.equal(it.remainingMs(), 0, 'never less');
});

t.test('a message is a line with its fields', async (t) => {
  const { it, lines } = progress(t, true);
  it.say('Copied', { files: 3 });
  it.say('Synced');
  it.warn('Slow', { disk: 'vda' });
  t.same(lines, ['Copied files=3\n', 'Synced\n', 'Slow disk=vda\n']);
});

t.test('a wait is reported when it changes, and returns its result', async (t) => {
  const { it, lines, waits } = progress(t, true);
  it.waitingFor('the API');
  it.waitingFor('the API');
  t.equal(it.lastWait, 'the API');
  t.equal(await it.wait('etcd', async () => it.lastWait), 'etcd');
  t.equal(it.lastWait, undefined);
  it.waitingFor('etcd');
  t.same(waits, ['the API', 'etcd', undefined, 'etcd']);
  t.same(lines, [
    'Waiting for the API left=60s\n',
    'Waiting for etcd left=60s\n',
    'Waiting for etcd left=60s\n',
  ]);
});

t.test('the listener may report waits itself', async (t) => {
  const { it, lines, waits } = progress(t, false);
  it.waitingFor('the API');
  t.same(waits, ['the API']);
  t.same(lines, []);
});

t.test('waiting time is counted, even if the wait fails', async (t) => {
  const { it, clock } = progress(t, false);
  await it.wait('etcd', async () => {
    clock.now += 1500;
  });
  clock.now += 5000;
  const failing = it.wait('the moon', async () => {
    clock.now += 250;
    throw new Error('no moon');
  });
  await t.rejects(failing, { message: 'no moon' });
  t.equal(it.waitedMs, 1750);
  t.equal(it.lastWait, 'the moon', 'the last wait belongs in the error');
});

t.test('why a wait does not end is told once, with its deadline, and until it ends', async (t) => {
  const { it, lines, troubles } = progress(t, true);
  const stuck = it.wait('the kubelet', async () => {
    it.trouble('it has ended');
    it.trouble('it has ended');
    throw new Error('at the deadline');
  });
  await t.rejects(stuck, /deadline/);
  t.equal(it.lastWait, 'the kubelet: it has ended');
  t.equal(lines.filter((line) => line.startsWith('it has ended')).length, 1);
  await it.wait('the kubelet', async () => undefined);
  t.same(troubles, ['it has ended', undefined]);
});
