import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { SystemdNotifier } from '../../../lib/engine/steps/systemd-notify.ts';
import { waitForFiles } from '../../../lib/host/watch.ts';
import { setEnvironment } from '../../unit/engine/steps/environment.ts';
import { Tester } from '../../unit/engine/steps/tester.ts';
import { recordLimits } from '../../unit/host/timers.ts';

/** A `systemd-notify` that records its arguments, one call per line. */
const RECORDER = `#!/bin/sh
printf '%s\\n' "$*" >> "$NOTIFY_CALLS"
exit "\${NOTIFY_EXIT:-0}"
`;

function recorder(t: Test) {
  const folder = t.testdir({ bin: { 'systemd-notify': RECORDER }, root: {} });
  chmodSync(join(folder, 'bin/systemd-notify'), 0o755);
  const calls = join(folder, 'calls');
  const read = () => (existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []);
  return {
    root: join(folder, 'root'),
    env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, NOTIFY_CALLS: calls },
    read,
    /** The calls, once there are that many. */
    readAll: async (count: number) => {
      await waitForFiles([calls], async () => read().length >= count, {
        signal: AbortSignal.timeout(120_000),
        deadlineMs: 60_000,
        describe: () => `${count} calls`,
      });
      return read();
    },
  };
}

t.test('systemd gets the status of the agent and keep-alive messages', async (t) => {
  const { root, env, read } = recorder(t);
  const tester = new Tester(root);
  const unit = { NOTIFY_SOCKET: '/nowhere', WATCHDOG_USEC: '60000000' };
  const ended = await tester.run(['run'], { ...env, ...unit, BEHAVIOUR: 'short-wait' });
  t.equal(ended.code, 0);
  const calls = read();
  t.equal(calls.filter((call) => call === '--ready').length, 1);
  t.ok(calls.includes('--status=step 2 of 3, middle: waiting for the tide'), 'STATUS= of a wait');
  t.notOk(calls.includes('--status=done'), 'the unit may be gone by then');
  const asked = calls.find((call) => call.startsWith('EXTEND_TIMEOUT_USEC=')) ?? '';
  t.ok(Number(asked.split('=')[1]) >= 60_000_000, `${asked} is as long as the step may take`);
  t.ok(calls.includes('WATCHDOG=1'));
});

t.test('the reason for a failure is the last status', async (t) => {
  const { root, env, read } = recorder(t);
  await new Tester(root).run(['run'], { ...env, NOTIFY_SOCKET: '/nowhere', BEHAVIOUR: 'fatal' });
  t.equal(read().at(-1), '--status=failed: middle: the moon fell. Buy another one.');
  t.notOk(read().includes('WATCHDOG=1'), 'no watchdog where the unit has none');
});

t.test('a status is one assignment, whatever it quotes', async (t) => {
  const { env, readAll } = recorder(t);
  setEnvironment(t, { ...env, NOTIFY_SOCKET: '/nowhere' });
  const notifier = new SystemdNotifier();
  notifier.status('waiting for pod a\nMAINPID=1\u2028\u001b[2J');
  t.same(await readAll(1), ['--status=waiting for pod a | MAINPID=1\\u2028\\u001b[2J']);
  await notifier.stop();
});

t.test('nothing is sent unless systemd started the agent', async (t) => {
  const { root, env, read } = recorder(t);
  t.equal((await new Tester(root).run(['run'], { ...env, WATCHDOG_USEC: '100000' })).code, 0);
  t.strictSame(read(), []);
});

/** The notifier of a unit, whose messages are recorded. */
function notifying(t: Test, variables: Readonly<Record<string, string | undefined>> = {}) {
  const { env, read, readAll } = recorder(t);
  const unit = { NOTIFY_SOCKET: '/nowhere', WATCHDOG_USEC: undefined };
  setEnvironment(t, { ...unit, ...env, ...variables });
  return { notifier: new SystemdNotifier(), read, readAll };
}

t.test('only the newest pending status is sent; more time can be requested', async (t) => {
  const { notifier, read } = notifying(t);
  const limits = recordLimits(t);
  // All but the first arrive while that one is being sent.
  for (const text of ['one', 'two', 'two', 'three']) notifier.status(text);
  await notifier.stop();
  notifier.status('three');
  await notifier.extendTimeout(1500.4);
  t.strictSame(read(), ['--status=one', '--status=three', 'EXTEND_TIMEOUT_USEC=1500400']);
  t.same(limits, [10_000, 10_000, 10_000], 'systemd that hangs does not hold the work up');
  notifier.status('four');
  await notifier.stop();
  t.equal(read().at(-1), '--status=four', 'after a pause, too');
});

t.test(
  'the watchdog is notified immediately, and at half its interval until the end',
  async (t) => {
    const { notifier, readAll } = notifying(t, { WATCHDOG_USEC: '30000000' });
    const timers: { feed: () => void; ms: number; isRefed: boolean }[] = [];
    const cleared: unknown[] = [];
    t.capture(globalThis, 'setInterval', (feed: () => void, ms: number) => {
      const timer = {
        ...{ feed, ms, isRefed: true },
        unref: () => {
          timer.isRefed = false;
        },
      };
      timers.push(timer);
      return timer;
    });
    t.capture(globalThis, 'clearInterval', (timer: unknown) => cleared.push(timer));
    notifier.startWatchdog();
    t.match(timers, [{ ms: 15_000, isRefed: false }], 'it does not keep the process alive');
    timers[0]?.feed();
    await notifier.stop();
    t.equal(cleared[0], timers[0]);
    t.same(await readAll(2), ['WATCHDOG=1', 'WATCHDOG=1']);
  },
);

t.test('no watchdog unless the unit that started the agent has one', async (t) => {
  const table = [
    {},
    { WATCHDOG_USEC: '0' },
    { WATCHDOG_USEC: '1000', NOTIFY_SOCKET: undefined },
  ] as const;
  for (const variables of table) {
    await t.test(JSON.stringify(variables), async (t) => {
      const { notifier, read } = notifying(t, variables);
      t.capture(globalThis, 'setInterval', () => t.fail('a timer is started'));
      notifier.startWatchdog();
      notifier.status('one');
      await notifier.stop();
      await notifier.ready();
      t.same(read(), 'NOTIFY_SOCKET' in variables ? [] : ['--status=one', '--ready']);
    });
  }
});

t.test('a message that cannot be sent is not a failure', async (t) => {
  await t.test('it is refused', async (t) => {
    const { notifier } = notifying(t, { NOTIFY_EXIT: '1' });
    await t.resolves(notifier.ready());
  });
  await t.test('there is no program', async (t) => {
    const { notifier } = notifying(t, { PATH: t.testdirName });
    await t.resolves(notifier.ready());
  });
});
