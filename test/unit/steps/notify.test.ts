import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { SystemdNotifier } from '../../../lib/steps/systemd-notify.ts';
import { Tester } from './tester.ts';

/** A `systemd-notify` that writes its arguments down, one call a line. */
const RECORDER = `#!/bin/sh
sleep \${NOTIFY_SLOW:-0}
printf '%s\\n' "$*" >> "$NOTIFY_CALLS"
`;

function recorder(t: Test) {
  const folder = t.testdir({ bin: { 'systemd-notify': RECORDER }, root: {} });
  chmodSync(join(folder, 'bin/systemd-notify'), 0o755);
  const calls = join(folder, 'calls');
  return {
    root: join(folder, 'root'),
    env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, NOTIFY_CALLS: calls },
    read: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []),
  };
}

t.test('systemd is told where the agent stands, and that it lives', async (t) => {
  const { root, env, read } = recorder(t);
  const tester = new Tester(root);
  const unit = { NOTIFY_SOCKET: '/nowhere', WATCHDOG_USEC: '200000' };
  const ended = await tester.run(['run'], { ...env, ...unit, BEHAVIOUR: 'short-wait' });
  t.equal(ended.code, 0);
  const calls = read();
  t.equal(calls.filter((call) => call === '--ready').length, 1);
  t.ok(calls.includes('--status=step 2 of 3, middle: waiting for the tide'), 'STATUS= of a wait');
  t.notOk(calls.includes('--status=done'), 'the unit may be gone by then');
  const asked = calls.find((call) => call.startsWith('EXTEND_TIMEOUT_USEC=')) ?? '';
  t.ok(Number(asked.split('=')[1]) >= 60_000_000, `${asked} is as long as the step may take`);
  const fed = calls.filter((call) => call === 'WATCHDOG=1').length;
  t.ok(fed >= 3 && fed <= 20, `fed ${fed} times, at half the interval`);
});

t.test('the reason of a failure is the last status', async (t) => {
  const { root, env, read } = recorder(t);
  await new Tester(root).run(['run'], { ...env, NOTIFY_SOCKET: '/nowhere', BEHAVIOUR: 'fatal' });
  t.equal(read().at(-1), '--status=failed: middle: the moon fell. Buy another one.');
  t.notOk(read().includes('WATCHDOG=1'), 'no watchdog where the unit has none');
});

t.test('nothing is sent where systemd did not start the agent', async (t) => {
  const { root, env, read } = recorder(t);
  t.equal((await new Tester(root).run(['run'], { ...env, WATCHDOG_USEC: '100000' })).code, 0);
  t.strictSame(read(), []);
});

t.test('of statuses that wait only the newest is sent; time can be asked for', async (t) => {
  const { env, read } = recorder(t);
  const before = { ...process.env };
  t.teardown(() => {
    process.env = before;
  });
  process.env = { ...before, ...env, NOTIFY_SOCKET: '/nowhere', NOTIFY_SLOW: '0.1' };
  const notifier = new SystemdNotifier();
  for (const text of ['one', 'two', 'two', 'three']) notifier.status(text);
  await sleep(20);
  await notifier.stop();
  notifier.status('three');
  await notifier.extendTimeout(1500);
  t.strictSame(read(), ['--status=one', '--status=three', 'EXTEND_TIMEOUT_USEC=1500000']);
});

t.test('a missing program is not a failure', async (t) => {
  const before = { ...process.env };
  t.teardown(() => {
    process.env = before;
  });
  process.env = { ...before, PATH: t.testdir(), NOTIFY_SOCKET: '/nowhere' };
  await t.resolves(new SystemdNotifier().ready());
});
