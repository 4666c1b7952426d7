import t from 'tap';
import { runHere, runNamedUnit } from '../../../lib/host/named-unit.ts';
import { testHost } from '../../unit/agents/host/host.ts';

const never = new AbortController().signal;

/** systemd-run that runs the program as a child. */
const SYSTEMD_RUN = 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"';

t.test(
  'a program in a unit of that name; one of an earlier attempt is stopped first',
  async (t) => {
    const { programs } = testHost(t);
    programs.give('systemctl', 'exit 5');
    programs.give('systemd-run', SYSTEMD_RUN);
    programs.give('podman', 'echo out; echo err >&2; exit 3');
    const ended = await runNamedUnit({
      name: 'sno-x',
      argv: ['podman', 'run', 'image'],
      environment: { HOME: '/root' },
      signal: never,
      deadlineMs: 61_500,
    });
    t.same(ended, { exitCode: 3, how: 'exit code 3', stdout: 'out', stderr: 'err' });
    const [stop, run] = programs.calls();
    t.equal(stop, 'systemctl stop sno-x.service');
    for (const part of [
      /--unit=sno-x /,
      /--wait /,
      /--pipe /,
      /--property=RuntimeMaxSec=62 /,
      /--setenv=HOME=\/root /,
      / -- podman run image$/,
    ]) {
      t.match(run, part);
    }
  },
);

t.test('an abort stops the unit, not only the process that waits for it', async (t) => {
  const { programs } = testHost(t);
  const stop = new AbortController();
  programs.give('systemctl', 'exit 0');
  programs.give('systemd-run', 'exec sleep 600');
  const running = runNamedUnit({
    name: 'sno-x',
    argv: ['a'],
    signal: stop.signal,
    deadlineMs: 600_000,
  });
  const rejected = t.rejects(running, { message: 'deadline' });
  while (!programs.calls().some((call) => call.startsWith('systemd-run'))) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  stop.abort(new Error('deadline'));
  await rejected;
  t.equal(programs.calls().at(-1), 'systemctl stop sno-x.service');
});

t.test('how a program ended', async (t) => {
  const how = async (script: string, deadlineMs = 60_000) =>
    (await runHere({ name: 'x', argv: ['sh', '-c', script], signal: never, deadlineMs })).how;
  t.equal(await how('exit 0'), 'exit code 0');
  t.equal(await how('kill -9 $$'), 'signal SIGKILL');
  t.equal(await how('exec sleep 600', 50), 'deadline exceeded');
  const missing = { name: 'x', argv: ['/no/such/program'], signal: never, deadlineMs: 1000 };
  t.match(await runHere(missing), { exitCode: undefined, how: /ENOENT/ });
});
