import t, { type Test } from 'tap';
import { checkIdentity } from '../../../../agents/post-reboot/restore/check-identity.ts';
import { placeEtcd } from '../../../../agents/post-reboot/restore/place-etcd.ts';
import { restoreDatabase } from '../../../../agents/post-reboot/restore/restore-database.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { cluster } from '../host/cluster.ts';
import { type HostOptions, type TestHost, testHost } from '../host/host.ts';
import { giveAddresses } from '../host/network.ts';

const RESTORE = '/var/lib/sno-agents/restore';
const RECORD = `${RESTORE}/etcd-snapshot.json`;
const DATABASE = '/var/lib/etcd/member/snap/db';
const POD = '/etc/kubernetes/manifests/etcd-pod.yaml';
const record = {
  clusterId: cluster.clusterId,
  sha256: sha256('the snapshot'),
  bytes: 12,
  revision: 4711,
  hash: 99,
  compactRevision: 4711,
  etcdVersion: '3.6.8',
  hostname: 'edge-0',
  nodeIps: ['192.0.2.10', '2001:db8::10'],
};

/** An installed host before its first kubelet start; etcdutl restores and hashes what it is told. */
function host(t: Test, options: HostOptions = {}): TestHost {
  const host = testHost(t, {
    cluster: { machineNetwork: ['192.0.2.0/24', '2001:db8::/64'] },
    ...options,
  });
  host.write(RECORD, JSON.stringify(record));
  host.write(`${RESTORE}/etcd-snapshot.db`, 'the snapshot');
  host.write(`${RESTORE}/etcd-pod.yaml`, 'kind: Pod\n');
  etcdutl(host, record.hash);
  giveAddresses(host, '192.0.2.10/24', '2001:db8::10/64');
  return host;
}

function etcdutl(host: TestHost, hash: number): void {
  host.programs.give(
    'etcdutl',
    `case "$1" in
      snapshot) mkdir -p "$5/member/snap" && cp "$3" "$5/member/snap/db" ;;
      hashkv) echo '{"hash":${hash},"hashRevision":'"$4"',"compactRevision":4711}' ;;
      *) exit 97 ;;
    esac`,
  );
  const script = '#!/bin/sh\nexec etcdutl "$@"\n';
  host.write('/var/lib/sno-agents/bin/etcdutl', script, 0o755);
}

t.test('every restore step requires the record of this cluster', async (t) => {
  for (const step of [checkIdentity, restoreDatabase]) {
    const missing = host(t);
    missing.remove(RECORD);
    t.match(await missing.failureOf(step), {
      kind: 'fatal',
      code: 'snapshot-unusable',
      message: /snapshot record.*Reinstall the host/,
    });
    const foreign = host(t);
    foreign.write(RECORD, JSON.stringify({ ...record, clusterId: 'another' }));
    t.match(await foreign.failureOf(step), {
      kind: 'fatal',
      code: 'snapshot-unusable',
      message: /another cluster.*found another/,
    });
    const damaged = host(t);
    damaged.write(RECORD, '{');
    t.match(await damaged.failureOf(step), {
      kind: 'fatal',
      message: /cannot be used.*record.*combined Ignition/,
    });
    for (const each of [missing, foreign, damaged]) t.notOk(each.has('/var/lib/etcd'));
    t.same(await step.input(host(t).context), record, 'a new record runs the step again');
  }
});

t.test('check-identity', async (t) => {
  t.test('the name and addresses of the live stage', async (t) => {
    const it = host(t);
    t.same(await it.run(checkIdentity), { kind: 'done', note: 'edge-0, 192.0.2.10, 2001:db8::10' });
    t.equal(await it.holds(checkIdentity), true);
  });

  const cases: [
    title: string,
    hostname: string,
    addresses: string[],
    kind: string,
    says: RegExp,
  ][] = [
    [
      'another name',
      'localhost',
      ['192.0.2.10/24', '2001:db8::10/64'],
      'fatal',
      /host's name; expected edge-0; found localhost.*Restore edge-0 on the host/,
    ],
    [
      'another address',
      'edge-0',
      ['192.0.2.11/24', '2001:db8::10/64'],
      'fatal',
      /IPv4 address; expected 192\.0\.2\.10; found 192\.0\.2\.11/,
    ],
    [
      'an address that is not there yet',
      'edge-0',
      ['192.0.2.10/24'],
      'retry',
      /no IPv6 address.*expected 2001:db8::10/,
    ],
    [
      'an address of another network',
      'edge-0',
      ['192.0.2.10/24', '2001:db9::10/64'],
      'retry',
      /no IPv6 address/,
    ],
    [
      'both changed: the first address of the record is named',
      'edge-0',
      ['192.0.2.11/24', '2001:db8::11/64'],
      'fatal',
      /IPv4 address; expected 192\.0\.2\.10; found 192\.0\.2\.11/,
    ],
    [
      'one family changed, the other not there yet',
      'edge-0',
      ['2001:db8::11/64'],
      'fatal',
      /IPv6 address; expected 2001:db8::10; found 2001:db8::11/,
    ],
  ];
  for (const [title, hostname, addresses, kind, says] of cases) {
    t.test(title, async (t) => {
      const it = host(t, { hostname });
      giveAddresses(it, ...addresses);
      const code = kind === 'retry' ? 'address-missing' : 'identity-changed';
      t.match(await it.failureOf(checkIdentity), { kind, code, message: says });
      t.equal(await it.holds(checkIdentity), false);
    });
  }
});

t.test('restore-database', async (t) => {
  t.test('rebuilds the database as the member that the static pod starts', async (t) => {
    const it = host(t);
    t.equal(await it.holds(restoreDatabase), false, 'before');
    t.same(await it.run(restoreDatabase), {
      kind: 'done',
      note: 'revision 4711, hash 99 verified',
    });
    t.equal(it.read(DATABASE), 'the snapshot');
    t.equal(await it.holds(restoreDatabase), true, 'after');
    t.match(it.lines.join(''), /Waiting for etcdutl to rebuild the database/);
    const [restored, hashed] = it.programs.calls('etcdutl');
    t.match(
      restored,
      / --name etcd --initial-cluster etcd=(https:\S+) --initial-cluster-token sno-etcd --initial-advertise-peer-urls \1$/,
    );
    t.match(hashed, /^etcdutl hashkv .* --rev 4711 /);
  });

  t.test('run again: the database is left unchanged', async (t) => {
    const it = host(t);
    await it.run(restoreDatabase);
    it.write(DATABASE, 'written to since');
    t.match(await it.run(restoreDatabase), { note: /is already restored/ });
    t.equal(it.read(DATABASE), 'written to since');
  });

  t.test('an interrupted run starts over', async (t) => {
    const it = host(t);
    it.write('/var/lib/etcd.restoring/member/snap/db', 'half of it');
    await it.run(restoreDatabase);
    t.equal(it.read(DATABASE), 'the snapshot');
    t.notOk(it.has('/var/lib/etcd.restoring'));
  });

  const damages: [title: string, damage: (it: TestHost) => void, kind: string, says: RegExp][] = [
    [
      'a damaged snapshot',
      (it) => it.write(`${RESTORE}/etcd-snapshot.db`, 'x'),
      'fatal',
      /is not the one that was taken/,
    ],
    ['another history', (it) => etcdutl(it, 98), 'fatal', /expected HashKV 99 .*found HashKV 98/],
    [
      'another compaction',
      (it) => it.write(RECORD, JSON.stringify({ ...record, compactRevision: 4710 })),
      'fatal',
      /expected HashKV 99 .*4710.*found HashKV 99 .*4711/,
    ],
    [
      'an etcdutl that fails',
      (it) => it.programs.give('etcdutl', 'echo "Error: disk full" >&2; exit 1'),
      'retry',
      /disk full/,
    ],
  ];
  for (const [title, damage, kind, says] of damages) {
    t.test(`${title}: no database`, async (t) => {
      const it = host(t);
      damage(it);
      t.match(await it.failureOf(restoreDatabase), { kind, message: says });
      t.notOk(it.has('/var/lib/etcd'));
      t.equal(await it.holds(restoreDatabase), false);
    });
  }

  t.test('ends when it is told to stop', async (t) => {
    const it = host(t);
    it.programs.give('etcdutl', 'touch "$ROOT/begun"; exec sleep 300');
    t.match(await it.stoppedAt('/begun', restoreDatabase), { message: /stop/ });
    t.notOk(it.has('/var/lib/etcd'));
  });

  t.test('another database is never replaced', async (t) => {
    const it = host(t);
    it.write(DATABASE, 'of another cluster');
    t.match(await it.failureOf(restoreDatabase), { kind: 'fatal', message: /another database/ });
    t.equal(it.read(DATABASE), 'of another cluster');
  });
});

t.test('place-etcd', async (t) => {
  const it = host(t);
  t.equal(await it.holds(placeEtcd), false, 'before');
  t.same(await it.run(placeEtcd), { kind: 'done' });
  t.equal(it.read(POD), 'kind: Pod\n');
  t.equal(it.mode(POD), 0o600);
  t.equal(await it.holds(placeEtcd), true, 'after');
  t.same(await it.run(placeEtcd), { kind: 'done' }, 'again');
  it.write(POD, 'half');
  t.equal(await it.holds(placeEtcd), false, 'damaged');
  const before = await placeEtcd.input(it.context);
  it.write(`${RESTORE}/etcd-pod.yaml`, 'kind: Pod # another\n');
  t.not(await placeEtcd.input(it.context), before, 'another manifest runs the step again');
  t.equal(await it.holds(placeEtcd), false);
});
