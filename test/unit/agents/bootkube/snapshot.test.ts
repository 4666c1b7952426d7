import t, { type Test } from 'tap';
import { snapshot } from '../../../../agents/bootkube/handover/snapshot.ts';
import type { NodeIps } from '../../../../lib/base/network/node-ips.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { saveRendered } from '../../../../lib/render/store.ts';
import { cluster } from '../host/cluster.ts';
import { fakeEtcd, snapshotBytes } from '../host/etcd.ts';
import { testHost } from '../host/host.ts';
import { giveAddresses } from '../host/network.ts';
import { giveRendered, rendered } from '../host/rendered.ts';

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
  t.test('is taken of a compacted, defragmented and hashed database without leases', async (t) => {
    const { it, etcd } = await host(t);
    t.equal(await it.holds(snapshot), false, 'before');
    t.same(await it.run(snapshot), { kind: 'done', note: 'revision 14, 1 KiB' });
    t.match(it.lines.join(''), /Waiting for a stable etcd revision/);
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
    t.match(it.lines.join(''), /2 etcd leases/);
    t.equal(await it.holds(snapshot), true, 'after');
    etcd.state.leases = [];
    t.match(await it.run(snapshot), { kind: 'done' }, 'again');
  });

  t.test('does not hold if the file is missing, damaged or from another cluster', async (t) => {
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

  for (const [call, code] of [
    ['hash', 'snapshot-unusable'],
    ['snapshot', 'unavailable'],
  ] as const) {
    t.test(`a write before the ${call}: no record`, async (t) => {
      const { it, etcd } = await host(t);
      etcd.before = (next) => {
        if (next === call) etcd.state.revision = 15;
      };
      t.match(await it.failureOf(snapshot), {
        kind: 'retry',
        code,
        message: /during the snapshot; expected revision 14; found revision 15/,
      });
      t.notOk(it.has(RECORD));
      t.equal(await it.holds(snapshot), false);
    });
  }

  t.test('a dual-stack host has the addresses of both families', async (t) => {
    const { it } = await host(t);
    const nodeIps: NodeIps = ['192.0.2.10', '2001:db8::10'];
    await saveRendered(it.paths, 'input', { hostname: 'edge-0', nodeIps }, rendered);
    t.match(await it.failureOf(snapshot), { code: 'identity-changed' });
    giveAddresses(it, '192.0.2.10/24', '192.0.2.11/24', '2001:db8::10/64');
    t.match(await it.run(snapshot), { kind: 'done' });
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
        code: 'identity-changed',
        message: /expected edge-0, 192\.0\.2\.10; found/,
      });
      t.notOk(it.has(RECORD));
      t.equal(await it.holds(snapshot), false);
    });
  }
});
