import t from 'tap';
import { runOutsideSandbox } from '../../../lib/host/outside-sandbox.ts';
import {
  bootTime,
  disableUnit,
  reloadUnits,
  restartUnit,
  startUnit,
  unitProperties,
} from '../../../lib/host/systemd.ts';
import { testHost } from '../agents/host/host.ts';
import { recordLimits } from './timers.ts';

const signal = new AbortController().signal;
const never = AbortSignal.abort();

t.test('calls of systemd', async (t) => {
  const table: [(signal: AbortSignal) => Promise<unknown>, command: string][] = [
    // An agent waiting for a unit ordered after its own would wait forever.
    [
      (signal) => startUnit('kubelet.service', signal),
      'systemctl start --no-block kubelet.service',
    ],
    [(signal) => restartUnit('kubelet.service', signal), 'systemctl restart kubelet.service'],
    [reloadUnits, 'systemctl daemon-reload'],
    [(signal) => disableUnit('a.service', signal), 'systemctl disable --no-reload a.service'],
    [
      (signal) => unitProperties('a.service', ['Result', 'ActiveState'], signal),
      'systemctl show a.service --property=Result,ActiveState',
    ],
    [bootTime, 'systemctl show --property=UserspaceTimestampMonotonic --value'],
    [
      (signal) => runOutsideSandbox('efibootmgr', ['-v'], { signal, deadlineMs: 1200 }),
      'systemd-run --quiet --pipe --wait --collect --property=RuntimeMaxSec=2 -- efibootmgr -v',
    ],
  ];
  const { programs } = testHost(t);
  const limits = recordLimits(t);
  for (const [ask, command] of table) {
    const [program = ''] = command.split(' ');
    programs.give(program, '');
    programs.forgetCalls();
    await ask(signal);
    t.same(programs.calls(), [command]);
    // A unit may take 90 s to start, and as long to stop.
    const systemctlMs = command === 'systemctl restart kubelet.service' ? 180_000 : 30_000;
    t.same(limits.splice(0), [program === 'systemctl' ? systemctlMs : 1200], command);
    await t.rejects(ask(never), /stopped/, `${command}, stopped`);
    programs.give(program, 'echo "Access denied" >&2; exit 4');
    await t.rejects(ask(signal), { kind: 'retry', message: /exit code 4.*Access denied/ });
    limits.length = 0;
  }
});

t.test('properties of a unit', async (t) => {
  const { programs } = testHost(t);
  programs.give('systemctl', 'printf "%s\\n" Result=success ExecStart=a=b Empty= Other=x Resul=no');
  t.same(await unitProperties('a', ['Result', 'ExecStart', 'Empty', 'Missing'], signal), {
    Result: 'success',
    ExecStart: 'a=b',
    Empty: '',
  });
});

t.test('the time of the boot does not depend on when the clock was set', async (t) => {
  const { programs } = testHost(t);
  // systemd started 40 s after the kernel, 160 s ago.
  programs.give('systemctl', 'echo 40000000');
  const now = Date.parse('2030-01-01T12:00:00.000Z');
  t.capture(Date, 'now', () => now);
  t.capture(process.hrtime, 'bigint', () => 200_000_000_000n);
  t.equal((await bootTime(signal)).toISOString(), '2030-01-01T11:57:20.000Z');
});

t.test('a failure outside the sandbox includes the output', async (t) => {
  const { programs } = testHost(t);
  programs.give('systemd-run', 'echo BootOrder: 0001');
  const limits = { signal, deadlineMs: 60_000 };
  t.equal(await runOutsideSandbox('efibootmgr', [], limits), 'BootOrder: 0001');
});
