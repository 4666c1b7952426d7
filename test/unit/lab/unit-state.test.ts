import t from 'tap';
import type { HostIdentity } from '../../../lab/host/network.ts';
import { waitForFailure, waitUntilInactive } from '../../../lab/host/unit-state.ts';

const { signal } = new AbortController();
const identity: HostIdentity = { name: 'sno', mac: '', addresses: ['192.0.2.1'] };

/** Its units have these states, by their order in the question; each answer is used once, the last one again. */
function hostWith(...answers: readonly [string[], ...string[][]]) {
  const asked: string[] = [];
  const left = [...answers];
  const exec = async (argv: readonly string[]) => {
    asked.push(argv.join(' '));
    const states = (left.length > 1 ? left.shift() : left[0]) ?? [];
    // As systemctl prints the values of several units.
    return { stdout: `${states.join('\n\n')}\n`, stderr: '', exitCode: 0 };
  };
  return { asked, host: { identity, exec } };
}

const wait = (host: Parameters<typeof waitUntilInactive>[0], deadlineMs = 60_000) =>
  waitUntilInactive(host, 'last.service', ['first.service'], deadlineMs, signal);

t.test('it waits for the last unit alone, also before that has begun', async (t) => {
  const { host, asked } = hostWith(
    ['activating', 'inactive'],
    // Inactive, with a job to start it; then without.
    ...[['inactive', 'active'], ['17']],
    ...[['inactive', 'active'], ['']],
  );
  await wait(host);
  t.match(asked[0], / last\.service first\.service$/);
  t.match(asked.at(-1), /--property=Job --value last\.service$/);
  t.equal(asked.length, 5);
});

t.test('the unit that failed is named', async (t) => {
  await t.rejects(wait(hostWith(['inactive', 'failed']).host), {
    message: /first\.service failed/,
  });
  await t.rejects(wait(hostWith(['failed', 'inactive']).host), { message: /last\.service failed/ });
});

t.test('at the deadline its state is said', async (t) => {
  const late = wait(hostWith(['deactivating', 'inactive']).host, -1);
  await t.rejects(late, { kind: 'deadline', message: /last\.service.*deactivating/ });
});

t.test('a host that does not answer has not finished', async (t) => {
  const exec = () => Promise.reject(new Error('the machine is off'));
  await t.rejects(wait({ identity, exec }), { message: /the machine is off/ });
});

t.test('of a unit that failed, the exit code of its program', async (t) => {
  const { host } = hostWith(['failed'], ['4']);
  t.equal(await waitForFailure(host, 'last.service', 60_000, signal), 4);
});
