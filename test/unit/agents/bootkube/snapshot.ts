import t, { type Test } from 'tap';
import { snapshot } from '../../../../agents/bootkube/handover/snapshot.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { cluster } from '../host/cluster.ts';
import { fakeEtcd, snapshotBytes } from '../host/etcd.ts';
import { testHost } from '../host/host.ts';
import { giveAddresses } from '../host/network.ts';
import { giveRendered } from '../host/rendered.ts';

const DB = '/opt/openshift/etcd-snapshot.db';
const RECORD = '/opt/openshift/etcd-snapshot.json';

async function host(t: Test, hostname = 'edge-0') {
  const etcd = await fakeEtcd(t);
  const it = testHost(t, {
    hostname,
    endpoints: { etcd: etcd.url },
    settings: { quietRevisionMs: 1 },
  });
  etcd.giveAccess(it);
  await giveRendered(it);
  giveAddresses(it, '192.0.2.10/24');
  return { it, etcd };
}

t.test('snapshot', async (t) => {
  t.test(
    'is of a database that is compacted, defragmented and hashed, without leases',
    async (t) => {
      const { it, etcd } = await host(t);
      t.equal(await it.holds(snapshot), false, 'before');
      t.match(await it.run(snapshot), { kind: 'done', note: /^revision 14/ });
      t.same(etcd.calls, [
        'revoke 41',
        'revoke 42',
        'compact 14 physically',
        'defragment',
        'hash 0',
        'snapshot',
      ]);
      t.equal(sha256(it.read(DB)), sha256(snapshotBytes.toString('utf8')));
      t.same(JSON.parse(it.read(RECORD)), {
        clusterId: cluster.clusterId,
        sha256: sha256(snapshotBytes),
        bytes: snapshotBytes.length,
        revision: 14,
        hash: 99,
        compactRevision: 14,
        etcdVersion: '3.6.0',
        hostname: 'edge-0',
        nodeIps: ['192.0.2.10'],
      });
      for (const path of [DB, RECORD]) t.equal(it.mode(path), 0o600, path);
      t.match(it.lines.join(''), /2 leases/);
      t.equal(await it.holds(snapshot), true, 'after');
      etcd.state.leases = [];
      t.match(await it.run(snapshot), { kind: 'done' }, 'again');
    },
  );

  t.test('a file that is missing, damaged or of another cluster does not hold', async (t) => {
    const { it } = await host(t);
    await it.run(snapshot);
    const record = it.read(RECORD);
    it.write(RECORD, record.replace(cluster.clusterId, 'another'));
    t.equal(await it.holds(snapshot), false, 'the record of another cluster');
    it.write(RECORD, record);
    it.write(DB, 'damaged');
    t.equal(await it.holds(snapshot), false, 'damaged');
    it.remove(DB);
    t.equal(await it.holds(snapshot), false, 'missing');
  });

  t.test('a write meanwhile: no record', async (t) => {
    const { it, etcd } = await host(t);
    etcd.beforeSnapshot = () => {
      etcd.state.revision += 1;
    };
    t.match(await it.failureOf(snapshot), {
      kind: 'retry',
      message: /etcd.*while the snapshot|during the snapshot/,
    });
    t.notOk(it.has(RECORD));
    t.notOk(it.has(DB));
  });

  for (const [title, hostname, addresses] of [
    ['another name', 'localhost', ['192.0.2.10/24']],
    ['another address', 'edge-0', ['192.0.2.11/24']],
  ] as const) {
    t.test(`${title} than in the certificates: no record`, async (t) => {
      const { it } = await host(t, hostname);
      giveAddresses(it, ...addresses);
      t.match(await it.failureOf(snapshot), {
        kind: 'retry',
        message: /expected edge-0, 192\.0\.2\.10; found/,
      });
      t.notOk(it.has(RECORD));
      t.equal(await it.holds(snapshot), false);
    });
  }
});
