import t, { type Test } from 'tap';
import { finishAio } from '../../../../agents/aiokube/finish.ts';
import { marker } from '../../../../agents/steps/marker.ts';
import { machineIdentity } from '../../../../lib/host/machine-identity.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';

const MARKER = '/var/lib/sno-agents/installation.json';
const PRODUCT = '/sys/class/dmi/id/product_uuid';
const HERE = '4c4c4544-0042-3510-8052-b4c04f4d5a31';
const ELSEWHERE = '4c4c4544-0042-3510-8052-b4c04f4d5a32';

function host(t: Test, uuid = HERE) {
  const it = testHost(t);
  it.write(PRODUCT, `${uuid.toUpperCase()}\n`);
  it.write('/etc/machine-id', `${'1'.repeat(32)}\n`);
  it.write('/etc/sno-agents/cluster-id', `${cluster.clusterId}\n`);
  it.write('/boot/loader/entries/a.conf', '');
  it.programs.give('sync', `[ ! -e "$ROOT${MARKER}" ] && [ "$1" = --file-system ]`);
  return it;
}

t.test('marker', async (t) => {
  t.test('is written on a disk without an installation, and holds on this machine', async (t) => {
    const it = host(t);
    t.equal(await it.holds(marker), false, 'before');
    t.match(await it.run(marker), { kind: 'done' });
    t.match(JSON.parse(it.read(MARKER)), {
      clusterId: cluster.clusterId,
      cluster: 'edge.example.test',
      state: 'writing',
      machine: `dmi:${HERE}`,
    });
    t.equal(await it.holds(marker), true, 'after');
    t.strictSame(
      it.programs.calls(),
      [`sync --file-system ${it.at('/etc/sno-agents')} ${it.at('/boot')}`],
      'what Ignition wrote is durable before the marker says that it was used',
    );
    const before = it.read(MARKER);
    t.match(await it.run(marker), { kind: 'done', note: /^begun at 20/ });
    t.equal(it.read(MARKER), before, 'a second run changes nothing');
    it.write(PRODUCT, ELSEWHERE);
    t.equal(await it.holds(marker), false, 'the disk in another machine');
  });

  const ours = { clusterId: cluster.clusterId, cluster: 'edge.example.test', at: 'then' };
  const theirs = { clusterId: 'b', cluster: 'other.example.test', at: 'then' };
  const refused: [title: string, found: object, code: string, says: RegExp][] = [
    [
      'finished, on another machine',
      { ...ours, state: 'finished', machine: `dmi:${ELSEWHERE}` },
      'disk-other-machine',
      new RegExp(`another machine.*expected the machine dmi:${ELSEWHERE}.*found dmi:${HERE}`),
    ],
    [
      'begun on another machine',
      { ...ours, state: 'writing', machine: `dmi:${ELSEWHERE}` },
      'disk-other-machine',
      /an Ignition config for each host/,
    ],
    [
      'by bootstrap-in-place, with the same id',
      { ...ours, state: 'finished' },
      'disk-other-machine',
      /the machine of the installation/,
    ],
    [
      'finished, of another cluster',
      { ...theirs, state: 'finished', machine: `dmi:${HERE}` },
      'disk-other-system',
      /a finished installation of other\.example\.test \(b\)/,
    ],
    [
      'unfinished, of another cluster',
      { ...theirs, state: 'writing', machine: `dmi:${HERE}` },
      'disk-other-system',
      /an unfinished installation of other\.example\.test/,
    ],
  ];
  for (const [title, found, code, says] of refused) {
    t.test(`refuses a disk with an installation ${title}`, async (t) => {
      const it = host(t);
      it.write(MARKER, JSON.stringify(found));
      t.equal(await it.holds(marker), false);
      t.match(await it.failureOf(marker), { kind: 'fatal', code, message: says });
      t.same(JSON.parse(it.read(MARKER)), found, 'it is not changed');
    });
  }
});

t.test('finish', async (t) => {
  const it = host(t);
  await it.run(marker);
  t.equal(await it.holds(finishAio), false, 'before');
  t.same(await it.run(finishAio), { kind: 'done' });
  t.match(JSON.parse(it.read(MARKER)), { state: 'finished', machine: `dmi:${HERE}` });
  t.equal(it.read('/opt/openshift/.aiokube.done'), `${cluster.clusterId}\n`);
  t.equal(await it.holds(finishAio), true, 'after');
  t.equal(await it.holds(marker), true, 'the marker is still that of this machine');
  it.remove('/opt/openshift/.aiokube.done');
  t.equal(await it.holds(finishAio), false);
});

t.test(
  'a UUID of many machines that an earlier version recorded is still of this one',
  async (t) => {
    const uuid = '00010203-0405-0607-0809-0a0b0c0d0e0f';
    const it = host(t, uuid);
    await it.run(marker);
    const written = JSON.parse(it.read(MARKER));
    t.equal(written.machine, `machine-id:${'1'.repeat(32)}`);
    it.write(MARKER, JSON.stringify({ ...written, machine: `dmi:${uuid}` }));
    t.equal(await it.holds(marker), true);
    it.write(MARKER, JSON.stringify({ ...written, machine: `dmi:${HERE}` }));
    t.equal(await it.holds(marker), false);
  },
);

t.test('the identity of a machine', async (t) => {
  const MACHINE_ID = `machine-id:${'1'.repeat(32)}`;
  const cases: [uuid: string, identity: string][] = [
    [HERE, `dmi:${HERE}`],
    ['', MACHINE_ID],
    ['Not Settable', MACHINE_ID],
    ['00000000-0000-0000-0000-000000000000', MACHINE_ID],
    ['ffffffff-ffff-ffff-ffff-ffffffffffff', MACHINE_ID],
    ['03000200-0400-0500-0006-000700080009', MACHINE_ID],
    ['00020003-0004-0005-0006-000700080009', MACHINE_ID],
    ['00010203-0405-0607-0809-0a0b0c0d0e0f', MACHINE_ID],
  ];
  for (const [uuid, identity] of cases) {
    t.equal(await machineIdentity(host(t, uuid).paths), identity, uuid || 'empty');
  }
  const without = host(t);
  without.remove(PRODUCT);
  t.equal(await machineIdentity(without.paths), MACHINE_ID, 'no firmware');
});
