import t from 'tap';
import { createAuthority, issueLeaf } from '../../../lab/certificates/signed-now.ts';
import { createSuccessor } from '../../../lib/pki/authority.ts';
import {
  type InventoryEntry,
  inventoryItem,
  inventorySchema,
  inventoryTable,
} from '../../../lib/pki/inventory.ts';
import { renewalGains } from '../../../lib/pki/leaf.ts';

const now = new Date('2026-03-01T12:00:00Z');
const inDays = (days: number) => new Date(now.getTime() + days * 86_400_000);
const authority = await createAuthority('test-ca', 3650, now);
const leaf: InventoryEntry = {
  name: 'server',
  path: '/pki/server.crt',
  kind: 'leaf',
  signer: 'test',
  usedBy: ['etcd'],
  renewedBy: 'sno-renew',
  takeUp: 'itself',
};
const profile = { subject: { commonName: 'etcd-server' }, usage: 'server' } as const;
const { certificate, key } = await issueLeaf(authority, profile, now);

t.test('a leaf is described, not what is presented with it', async (t) => {
  const old = await createAuthority('old-ca', 10, now);
  const { cross = '' } = await createSuccessor(old, now);
  const item = inventoryItem(leaf, certificate + cross, now);
  const described = { subject: 'etcd-server', notAfter: inDays(365).toISOString() };
  t.match(item, described);
  const pair = inventoryItem({ ...leaf, kind: 'leaf-with-key' }, certificate + key, now);
  t.match(pair, described, 'nor its key');
  const bundle = inventoryItem({ ...leaf, kind: 'trust' }, authority.certificate + cross, now);
  t.match(bundle, { notAfter: inDays(10).toISOString() }, 'of a bundle, what expires first');
});

t.test('the state of a certificate', async (t) => {
  const states: [at: number, renewedBy: InventoryEntry['renewedBy'], state: string][] = [
    [-2, 'sno-renew', 'not-yet-valid'],
    [0, 'sno-renew', 'valid'],
    [242, 'sno-renew', 'valid'],
    [244, 'sno-renew', 'due'],
    [244, 'kubelet', 'valid'],
    [366, 'sno-renew', 'expired'],
    [366, 'nobody', 'expired'],
  ];
  for (const [days, renewedBy, state] of states) {
    const item = inventoryItem({ ...leaf, renewedBy }, certificate, inDays(days));
    t.equal(item.state, state, `${renewedBy}, after ${days} days`);
    t.equal(item.renewalDue, renewedBy === 'sno-renew' ? inDays(243).toISOString() : undefined);
  }
});

t.test('a leaf that expires with its authority is not renewed daily', async (t) => {
  const ending = await createAuthority('test-ca', 400, now);
  const last = (await issueLeaf(ending, profile, inDays(100))).certificate;
  t.equal(inventoryItem(leaf, last, inDays(300), ending.certificate).state, 'limited');
  t.equal(inventoryItem(leaf, last, inDays(300), authority.certificate).state, 'due');
  t.notOk(renewalGains(last, ending.certificate));
  t.ok(renewalGains(certificate, ending.certificate));
});

t.test('of several certificates the one that expires first, whatever the order', async (t) => {
  const entry = { ...leaf, kind: 'trust', renewedBy: 'nobody' } as const;
  const short = (await createAuthority('old-ca', 30, now)).certificate;
  for (const text of [authority.certificate + short, short + authority.certificate]) {
    t.match(inventoryItem(entry, text, now), {
      state: 'valid',
      subject: 'old-ca',
      notAfter: inDays(30).toISOString(),
    });
  }
});

t.test('a damaged file is reported, a key is not parsed', async (t) => {
  t.match(inventoryItem(leaf, 'nothing', now), { state: 'unreadable', error: /no certificate/ });
  const bare = inventoryItem({ ...leaf, kind: 'private-key' }, 'nothing', now);
  t.equal(bare.state, undefined);
  t.equal(bare.notAfter, undefined);
});

t.test('the table is sorted by expiry and says what a new certificate takes', async (t) => {
  const items = [
    inventoryItem({ ...leaf, name: 'key', kind: 'private-key', renewedBy: 'nobody' }, '', now),
    inventoryItem({ ...leaf, name: 'ca', takeUp: 'pod-restart' }, authority.certificate, now),
    inventoryItem(leaf, certificate, now),
    inventoryItem({ ...leaf, name: 'node', takeUp: 'kubelet-restart' }, 'x', now),
  ];
  const inventory = { schemaVersion: 1, hostname: 'edge-0', at: now.toISOString(), items } as const;
  t.same(inventorySchema.parse(JSON.parse(JSON.stringify(inventory))), inventory);
  const [titles = '', ...rows] = inventoryTable(inventory).trimEnd().split('\n');
  t.match(titles, /^NAME +KIND +STATE +EXPIRES +SIGNER +RENEWED BY +TAKEN UP BY +PATH$/);
  t.same(
    rows.map((row) => row.split(' ')[0]),
    ['server', 'ca', 'key', 'node'],
  );
  t.match(
    rows[0],
    /^server +leaf +valid +2027-03-01 \(365 d\) +test +sno-renew +etcd +\/pki\/server\.crt$/,
  );
  t.match(rows[1], /restart of the pod: etcd/);
  t.match(rows[3], /unreadable .*restart of the kubelet/);
});
