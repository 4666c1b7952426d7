import t, { type Test } from 'tap';
import { kubeletState } from '../../../../agents/upkeep/payload/kubelet-state.ts';
import { testHost } from '../host/host.ts';

const STATE = '/var/lib/kubelet/cpu_manager_state';
/** As a kubelet 1.34 writes it. */
const state = (shared: string, more: object = {}) =>
  JSON.stringify({ policyName: 'static', defaultCpuSet: shared, checksum: 1, ...more });

function host(t: Test, online: string, reservedCpus: string | undefined, text?: string) {
  const it = testHost(t, reservedCpus === undefined ? {} : { cluster: { reservedCpus } });
  it.write('/sys/devices/system/cpu/online', `${online}\n`);
  if (text !== undefined) it.write(STATE, text, 0o600);
  return it;
}

t.test('kubelet-state', async (t) => {
  const pod = { entries: { 'a-uid': { app: '2-3' } } };
  const stays: [title: string, online: string, reserved: string | undefined, text: string][] = [
    ['all CPUs shared', '0-3', '0', state('0-3')],
    ['some given to a container', '0-3', '0', state('0-1', pod)],
    ['CPUs that are not in a row', '0-1,4-5', '4', state('0-1,4-5')],
    ['without a policy, as long as it is remembered', '0-7', undefined, none()],
  ];
  for (const [title, online, reserved, text] of stays) {
    t.test(`${title}: it stays`, async (t) => {
      const it = host(t, online, reserved, text);
      t.equal(await it.holds(kubeletState), true);
      t.same(await it.run(kubeletState), { kind: 'done' });
      t.equal(it.read(STATE), text);
    });
  }

  const goes: [title: string, online: string, reserved: string | undefined, string, RegExp][] = [
    [
      'more CPUs',
      '0-7',
      '0',
      state('0-3'),
      /of a host with the CPUs 0,1,2,3, and this one has 0,1,/,
    ],
    ['fewer CPUs', '0-1', '0', state('0-1', pod), /with the CPUs 0,1,2,3, and this one has 0,1\./],
    ['one CPU is off', '0,2-3', '0', state('0-3'), /this one has 0,2,3/],
    ['a reserved CPU is taken', '0-3', '2', state('0-1', pod), /the CPUs 2, which are reserved/],
    ['another policy', '0-3', '0', none(), /of the policy "none", and the policy is static/],
    ['a policy no more', '0-3', undefined, state('0-3'), /of the policy "static", and .* is none/],
    ['half a file', '0-3', '0', state('0-3').slice(0, 20), /it cannot be read/],
    ['an empty file', '0-3', undefined, '', /it cannot be read/],
    ['a set that is none', '0-3', '0', state('3-0'), /it cannot be read/],
  ];
  for (const [title, online, reserved, text, why] of goes) {
    t.test(`${title}: it is removed, once`, async (t) => {
      const it = host(t, online, reserved, text);
      t.equal(await it.holds(kubeletState), false);
      t.match(await it.run(kubeletState), { kind: 'done', note: 'CPU manager state removed' });
      t.match(it.lines.join(''), why);
      t.notOk(it.has(STATE));
      t.equal(await it.holds(kubeletState), true);
      t.same(await it.run(kubeletState), { kind: 'done' });
    });
  }

  t.test('a kubelet that has never run', async (t) => {
    const it = host(t, '0-3', '0');
    t.equal(await it.holds(kubeletState), true);
  });

  t.test('reserved CPUs that this host does not have', async (t) => {
    const it = host(t, '0-1', '2-3', state('0-3'));
    await it.run(kubeletState);
    t.match(it.lines.join(''), /CPUs 2,3 are reserved, .* Correct reservedSystemCPUs in \/etc/);
  });
});

function none(): string {
  return JSON.stringify({ policyName: 'none', defaultCpuSet: '', checksum: 1 });
}
