import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Source } from '../../agents/gather/source.ts';
import { Api } from '../../agents/gather/sources/api.ts';
import { identitiesOf } from '../../agents/gather/sources/api-access.ts';
import { etcd } from '../../agents/gather/sources/etcd.ts';
import { apiSources } from '../../agents/gather/sources/resources.ts';
import { secretNames } from '../../agents/gather/sources/secret-names.ts';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { applyManifests } from '../../lib/clients/kube/apply.ts';
import { failureTable } from '../../lib/clients/kube/apply-table.ts';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import { decodeManifests } from '../../lib/clients/kube/manifest-decoding.ts';
import { builtInCollections } from '../../lib/clients/rights/collections.ts';
import { gatherAccess } from '../../lib/clients/rights/gather.ts';
import { accessTo } from '../../lib/render/access.ts';
import { read, testHost } from '../unit/gather/cluster/host.ts';
import { resource } from './deferred-host.ts';

const VALUE = 'planted-4f9d1c';
const F = 'control-plane/master';

const { signal } = new AbortController();
const limits = { signal, deadlineMs: 10_000 };
const controlPlane = await startControlPlane(join(t.testdir(), 'control-plane'), signal);
t.teardown(() => controlPlane.stop());
const { host, write } = testHost(t);

/** The installed host's files, with the keys for signing and serving. */
const { gather } = accessTo('kubernetes');
const { authority } = controlPlane;
write(gather.ca, authority.certificate);
write(gather.signer.certificate, authority.certificate);
write(gather.signer.key, authority.key);
const { url, ca, certificate, key } = controlPlane.etcd;
write(gather.etcd.ca, readFileSync(ca));
write(gather.etcd.certificate, readFileSync(certificate));
write(gather.etcd.key, readFileSync(key));
write(
  '/etc/kubernetes/manifests/etcd.yaml',
  `args: [--listen-client-urls=${url}, "--listen-metrics-urls=${url}"]`,
);

const admin = await controlPlane.client();
t.teardown(() => admin[Symbol.dispose]());
const text = gatherAccess().map((object) => JSON.stringify(object));
const rows = await applyManifests(
  admin,
  { manifests: decodeManifests('access', text.join('\n---\n')).manifests, faults: [] },
  { ...limits, concurrency: 4, report: () => {} },
);
const refused = failureTable(rows);
if (refused.length > 0) throw new Error(refused.join('\n'));
const secrets = resource('v1', 'secrets');
const place = { namespace: 'default' };
const stringData = { password: VALUE };
await admin.create(
  secrets,
  place,
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'planted' }, stringData },
  limits,
);
await admin.create(
  resource('v1', 'configmaps'),
  place,
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'planted' }, data: { a: 'b' } },
  limits,
);

/** Access with the identity that the host signs for itself, at this API's port. */
async function api(): Promise<Api> {
  const [identity] = await identitiesOf(host);
  if (identity === undefined) throw new Error('no identity');
  const { server } = controlPlane;
  const client = new KubeClient({ ...(await identity.access()), server });
  t.teardown(() => client[Symbol.dispose]());
  return new Api(host, { client, identity, server });
}

t.test('it lists everything in a bundle', async (t) => {
  const sources = await apiSources(host, await api(), signal);
  const paths = sources.map(({ path }) => path);
  for (const { name } of builtInCollections) t.ok(paths.includes(`resources/${name}.json`), name);
  t.notOk(paths.some((path) => path.includes('secret')));
  for (const source of sources) {
    const { text, failure } = await read(source, host);
    t.equal(failure, undefined, source.path);
    t.notOk(text.includes(VALUE), source.path);
    if (source.format === 'json') {
      t.ok(Array.isArray(JSON.parse(text).items), source.path);
      t.notOk(text.includes('managedFields'), source.path);
    }
    if (source.path === 'resources/configmaps.json') t.match(text, /"planted"/);
    if (source.path === 'resources/api/readyz.txt') t.match(text, /readyz check passed/);
  }
});

t.test('it reads no Secret and writes nothing', async (t) => {
  const { client } = await api();
  await t.rejects(client.list(secrets, {}, limits), { code: 403 });
  await t.rejects(client.get(secrets, { ...place, name: 'planted' }, limits), { code: 403 });
  const map = { ...place, name: 'planted' };
  await t.rejects(client.remove(resource('v1', 'configmaps'), map, limits), { code: 403 });
  await t.rejects(client.json({ method: 'GET', path: '/api/v1/nodes/x/proxy/' }, limits), {
    code: 403,
  });
});

t.test('names of Secrets are read from the keys of etcd, without values', async (t) => {
  const { text, failure } = await read(secretNames(host), host);
  t.equal(failure, undefined);
  t.match(text, /^NAMESPACE\tNAME\n/);
  t.match(text, /^default\tplanted$/m);
  t.notMatch(text, VALUE);
});

t.test('the state of etcd', async (t) => {
  const sources = await etcd.list(host, signal);
  const files = new Map<string, string>();
  for (const source of sources) {
    const { text, failure } = await read(source, host);
    t.equal(failure, undefined, source.path);
    files.set(source.path, text);
  }
  const json = (name: string) => JSON.parse(files.get(`${F}/etcd/${name}.json`) ?? '');
  const status = json('endpoint-status');
  t.match(status, { endpoint: url, version: /^3\./, errors: [], isLearner: false });
  t.ok(status.dbSize > 0 && status.dbSizeInUse > 0 && status.raftIndex > 0 && status.raftTerm > 0);
  t.ok(status.revision > 1 && status.leader === status.memberId);
  t.match(json('member-list'), [{ id: status.memberId, name: 'test', clientUrls: [url] }]);
  t.strictSame(json('alarms'), []);
  t.match(files.get(`${F}/etcd/metrics.txt`), /^etcd_disk_wal_fsync_duration_seconds_bucket/m);
  t.match(files.get(`${F}/etcd/health.txt`), /^\/health: HTTP 200\n\{"health":"true"/);
});

t.test('a stopped API fails immediately, and names are still available', async (t) => {
  const asked = await api();
  const sources = await apiSources(host, asked, signal);
  await controlPlane.stopApiServer();
  const begun = performance.now();
  const isJson = ({ path }: Source) => path.endsWith('.json');
  for (const source of sources.filter(isJson)) {
    t.match((await read(source, host)).failure, /ECONNREFUSED/, source.path);
  }
  t.ok(performance.now() - begun < 3000, 'at once');
  t.match((await read(secretNames(host), host)).text, /^default\tplanted$/m);
});
