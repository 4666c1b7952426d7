import t from 'tap';
import { restartHost } from '../../../lib/host/restart-host.ts';
import { testHost } from '../agents/host/host.ts';
import { type StoppedClock, stopClock } from '../clients/kube/stopped-clock.ts';

const WATCHDOG_MS = 180_000;
/** Of systemctl, which sleeps by the same clock. */
const REQUEST_MS = 30_000;

/** Waits until a request was answered. */
async function paused(clock: StoppedClock): Promise<void> {
  while ((await clock.sleeping()) <= REQUEST_MS) await new Promise(setImmediate);
}

t.test('a host that does not begin to restart is asked again, at last without mercy', async (t) => {
  const { programs } = testHost(t);
  programs.give('systemctl', '');
  const clock = stopClock(t);
  const warnings: string[] = [];
  const began = clock.now;
  const ended = restartHost(new AbortController().signal, (text) => void warnings.push(text));
  for (let request = 0; request < 3; request++) {
    await paused(clock);
    await clock.wake();
  }
  await t.rejects(ended, { kind: 'retry', message: /does not restart/ });
  t.same(programs.calls(), ['systemctl reboot', 'systemctl reboot', 'systemctl reboot --force']);
  t.equal(warnings.length, 3);
  t.ok(clock.now - began < WATCHDOG_MS, `${clock.now - began} ms`);
});

t.test('a host that restarts stops the agent, which ends', async (t) => {
  const { programs } = testHost(t);
  programs.give('systemctl', '');
  const clock = stopClock(t);
  const stop = new AbortController();
  const ended = restartHost(stop.signal);
  await paused(clock);
  stop.abort();
  await ended;
  t.same(programs.calls(), ['systemctl reboot']);
});

t.test('a refused request is a failure', async (t) => {
  const { programs } = testHost(t);
  programs.give('systemctl', 'echo "Access denied" >&2; exit 1');
  await t.rejects(restartHost(new AbortController().signal), {
    kind: 'retry',
    message: /Access denied/,
  });
});
