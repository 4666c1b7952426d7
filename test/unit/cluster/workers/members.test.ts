/** Workers that have joined: what is remembered of them, and what they must not have. */
import t from 'tap';
import {
  forgetMember,
  readMembers,
  recordMember,
} from '../../../../lib/cluster/workers/members.ts';
import { ownOfWorker } from '../../../../lib/cluster/workers/own-host.ts';
import { testHost } from '../../agents/host/host.ts';

const FOLDER = '/var/lib/sno-agents/sno-approve/members';
const now = new Date('2030-01-01T00:00:00Z');
const member = { name: 'worker-0', nodeUid: 'uid-0', addresses: ['192.0.2.20', '2001:db8::20'] };

t.test('a member is remembered for as long as its certificate can be valid', async (t) => {
  const host = testHost(t);
  t.same(await readMembers(host.paths), []);
  await recordMember(host.paths, member, now);
  const other = { name: 'worker-1', nodeUid: '1', addresses: ['192.0.2.21'] };
  await recordMember(host.paths, other, now);
  const expires = new Date('2031-01-01T00:00:00Z');
  t.same(await readMembers(host.paths), [
    { ...member, expires },
    { ...other, expires },
  ]);
  t.equal(host.mode(`${FOLDER}/worker-0.json`), 0o600);
  const later = new Date('2030-06-01T00:00:00Z');
  await recordMember(host.paths, { ...member, nodeUid: 'uid-2' }, later);
  t.match((await readMembers(host.paths))[0], { nodeUid: 'uid-2' }, 'of its present Node');
  await forgetMember(host.paths, 'worker-0');
  t.notOk(host.has(`${FOLDER}/worker-0.json`), 'at once');
  await forgetMember(host.paths, 'worker-0');
  t.match(await readMembers(host.paths), [{ name: 'worker-1' }]);
});

t.test('a damaged file, or one under another name, makes nobody a member', async (t) => {
  const host = testHost(t);
  await recordMember(host.paths, member, now);
  const right = JSON.parse(host.read(`${FOLDER}/worker-0.json`));
  const wrong: [name: string, contents: unknown][] = [
    ['worker-1.json', right],
    ['worker-0', right],
    ['a.json', { ...right, name: 'a', schemaVersion: 2 }],
    ['b.json', { ...right, name: 'b', nodeUid: '' }],
    ['c.json', { ...right, name: 'c', nodeUid: undefined }],
    ['d.json', { ...right, name: 'd', addresses: [] }],
    ['e.json', { ...right, name: 'e', expires: 'never' }],
    ['f.json', { ...right, name: undefined }],
  ];
  for (const [name, contents] of wrong) host.write(`${FOLDER}/${name}`, JSON.stringify(contents));
  host.write(`${FOLDER}/torn.json`, '{"name":');
  t.match(await readMembers(host.paths), [{ name: 'worker-0' }]);
  t.equal((await readMembers(host.paths)).length, 1);
});

const own = {
  ownName: 'edge-0',
  clusterDomain: 'edge.example.com',
  ownAddresses: ['192.0.2.10', '2001:db8::10'],
  apiNames: ['k8s.example.org'],
};

t.test('a worker that has a name or an address of the control plane, and which', async (t) => {
  const found = (name: string, ...addresses: string[]) => ownOfWorker({ name, addresses }, own);
  t.equal(found('worker-0', '192.0.2.20'), undefined);
  t.equal(found('edge-0', '192.0.2.20'), 'edge-0');
  t.equal(found('api.edge.example.com', '192.0.2.20'), 'api.edge.example.com');
  t.equal(found('k8s.example.org', '192.0.2.20'), 'k8s.example.org');
  t.equal(found('worker-0', '192.0.2.20', '2001:db8::10'), '2001:db8::10');
  t.equal(found('worker-0', '192.0.2.10', '2001:db8::10'), '192.0.2.10');
});
