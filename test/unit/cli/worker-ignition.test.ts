import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { createAuthority } from '../../../lab/certificates/signed-now.ts';
import { decodeDataUrl } from '../../../lib/base/data-url.ts';
import { clusterSchema } from '../../../lib/config/cluster/cluster.ts';
import { type IgnitionConfig, parseConfig } from '../../../lib/render/ignition/config.ts';
import { effectiveConfig } from '../../../lib/render/ignition/validate.ts';
import { FakeApi } from '../clients/kube/fake-api.ts';
import { adminKubeconfig, serveApi, servingAuthority } from '../gather/cluster/serve-api.ts';
import { agentsExecutable } from './agents-executable.ts';
import { type Edit, edited } from './install-config-file.ts';
import { sno } from './run-sno.ts';

const DIGEST = 'a'.repeat(64);
const SOURCES = [
  ...['--payload-sha256', DIGEST, '--agents-url', 'http://192.0.2.1/sno-agents'],
  ...['--payload-url', 'http://192.0.2.1/p'],
];
const CLUSTER_ID = '6f0c8f0e-3b1b-4b44-9f0d-0123456789ab';
const STATUS = '/api/v1/namespaces/kube-system/configmaps/sno-installation';
const SECRETS = '/api/v1/namespaces/kube-system/secrets';
const ROOT_CA = '/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt';
const NODE = '/api/v1/nodes/sno.example.test';
const FLANNEL = '/apis/apps/v1/namespaces/kube-system/daemonsets/flannel';
const NO_DISK: readonly Edit[] = [
  ['  installationDisk: /dev/disk/by-id/wwn-0x1\n', ''],
  ['  existingSystem: overwrite\n', ''],
];

/** A folder of a cluster in that state, and its API. */
async function cluster(t: Test, state = 'complete', published = servingAuthority) {
  const api = new FakeApi();
  const { port } = await serveApi(t, (message, response) => api.answer(message, response));
  const data = {
    version: '1',
    state,
    step: 's',
    time: '2030-01-01T00:00:00Z',
    clusterId: CLUSTER_ID,
  };
  const metadata = { name: 'sno-installation', namespace: 'kube-system' };
  if (state !== 'absent') api.set(STATUS, { metadata, data });
  api.set(ROOT_CA, {
    metadata: { name: 'kube-root-ca.crt', namespace: 'kube-system' },
    data: { 'ca.crt': published },
  });
  const labels = { 'node-role.kubernetes.io/control-plane': '' };
  api.set(NODE, { metadata: { name: 'sno.example.test', labels } });
  const files = {
    'install-config.yaml': edited(NO_DISK),
    auth: { kubeconfig: adminKubeconfig(port) },
  };
  const dir = join(t.testdir({ 'sno-agents': agentsExecutable(), cluster: files }), 'cluster');
  const create = (args: readonly string[]) =>
    sno([
      ...['create', 'worker-ignition', '--dir', dir],
      ...['--agents-executable', join(dir, '../sno-agents'), ...args],
    ]);
  const posted = () => api.requests.filter(({ method }) => method === 'POST');
  const created = () => posted().filter(({ path }) => path.endsWith('/secrets'));
  return { api, dir, create, created, posted };
}

const readIgnition = async (dir: string): Promise<IgnitionConfig> =>
  parseConfig(await readFile(join(dir, 'worker.ign'), 'utf8'), 'worker.ign');

function contentsOf({ storage }: IgnitionConfig, path: string): string {
  const file = storage?.files?.find((each) => each.path === path);
  if (file?.contents === undefined) throw new Error(`no ${path}`);
  return decodeDataUrl(file.contents).toString('utf8');
}

t.test('workers trust what the cluster publishes, not the authority of a kubeconfig', async (t) => {
  const { certificate } = await createAuthority('behind the proxy');
  const { dir, create } = await cluster(t, 'complete', certificate);
  t.equal((await create(SOURCES)).code, 0);
  const config = await readIgnition(dir);
  t.equal(contentsOf(config, '/etc/kubernetes/pki/kubelet/api-ca.crt'), certificate);
});

t.test('writes the Ignition config of all workers, with a token that it creates', async (t) => {
  const { dir, create, created } = await cluster(t);
  const { code, err, out } = await create(SOURCES);
  t.notMatch(err, /^(?!Notice: )./m, 'nothing but notices');
  t.equal(code, 0);
  t.match(err, /list each worker in \/etc\/sno-agents\/workers\.d/);
  t.match(err, /for workers ignored: bootstrapInPlace\.hostname/);
  t.equal((await stat(join(dir, 'worker.ign'))).mode & 0o777, 0o600);
  const config = await readIgnition(dir);
  const described = clusterSchema.parse(
    JSON.parse(contentsOf(config, '/etc/sno-agents/cluster.json')),
  );
  t.match(described, {
    clusterId: CLUSTER_ID,
    payloadSha256: DIGEST,
    payloadUrl: 'http://192.0.2.1/p',
  });
  for (const name of ['hostname', 'installation', 'networkConfig', 'reservedCpus'] as const) {
    t.equal(described[name], undefined, `${name} is that of one host`);
  }
  t.equal(contentsOf(config, '/etc/kubernetes/pki/kubelet/api-ca.crt'), servingAuthority);
  t.match(contentsOf(config, '/etc/sno-agents/api.env'), /^API_SERVER=api-int\.[a-z0-9.]+:6443\n$/);

  const [secret, ...others] = created();
  t.equal(secret?.path, SECRETS);
  t.same(others, [], 'one token');
  t.match(secret?.body, {
    type: 'bootstrap.kubernetes.io/token',
    metadata: { namespace: 'kube-system' },
    stringData: {
      'token-id': /^[a-z0-9]{6}$/,
      'token-secret': /^[a-z0-9]{16}$/,
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': undefined,
      'auth-extra-groups': 'system:bootstrappers:sno-workers',
    },
  });
  const kubeconfig = parse(contentsOf(config, '/etc/sno-agents/worker-bootstrap.kubeconfig'));
  const { token } = kubeconfig.users[0].user;
  t.match(secret?.body, {
    metadata: { name: `bootstrap-token-${token.slice(0, 6)}` },
    stringData: { 'token-id': token.slice(0, 6), 'token-secret': token.slice(7) },
  });
  t.equal(kubeconfig.clusters[0].cluster.server, 'https://127.0.0.1:6443');
  t.notOk(out.includes(token), 'it is not printed');
  t.notMatch(JSON.stringify(config), /PRIVATE KEY/, 'no key');
  t.same(
    (config.storage?.files ?? []).filter(({ path }) => path.startsWith('/opt/openshift')),
    [],
    'nothing of a control plane',
  );
  const secrets = (config.storage?.files ?? []).filter(({ mode }) => mode === 0o600);
  t.same(
    secrets.map(({ path }) => path),
    [
      '/etc/sno-agents/cluster.json',
      '/etc/sno-agents/worker-bootstrap.kubeconfig',
      '/var/lib/kubelet/config.json',
    ],
  );
  const links = new Map((config.storage?.links ?? []).map(({ path, target }) => [path, target]));
  const agents = ['worker', 'progress', 'sno-payload', 'sno-worker-trust', 'sno-update', 'gather'];
  for (const agent of agents) {
    t.equal(links.get(`/var/lib/sno-agents/bin/${agent}`), 'sno-agents', agent);
  }
  for (const agent of ['aiokube', 'sno-approve', 'sno-certificates', 'sno-backup']) {
    t.notOk(links.has(`/var/lib/sno-agents/bin/${agent}`), agent);
  }
  const enabled = (config.systemd?.units ?? []).filter((unit) => unit.enabled === true);
  t.same(enabled.map(({ name }) => name).toSorted(), [
    ...['progress.service', 'sno-api.socket', 'sno-label.service'],
    ...['sno-trial.service', 'sno-trial.timer', 'sno-update.service'],
    ...['sno-worker-trust.timer', 'sno-worker.service'],
  ]);

  t.equal((await create(SOURCES)).code, 2, 'an existing one is kept');
  t.equal(created().length, 1, 'and no other token is created');
});

t.test('what a person adds to workers; what collides creates no token', async (t) => {
  const { dir, create, created } = await cluster(t);
  const add = async (path: string) => {
    const own = join(dir, '../own.ign');
    const files = [{ path, contents: { source: 'data:,mine' } }];
    await writeFile(own, JSON.stringify({ ignition: { version: '3.2.0' }, storage: { files } }));
    return create([...SOURCES, '--set', 'retryMs=3000', '--ignition', own]);
  };
  t.match(await add('/usr/local/bin/sno-agents'), { code: 2, err: /sno-agents/ });
  t.same([created(), existsSync(join(dir, 'worker.ign'))], [[], false]);
  t.equal((await add('/etc/shop/till.conf')).code, 0);
  const config = await readIgnition(dir);
  t.same(JSON.parse(contentsOf(config, '/etc/sno-agents/settings.json')), { retryMs: 3000 });
  t.equal(contentsOf(effectiveConfig(config).config, '/etc/shop/till.conf'), 'mine');
});

t.test('the token is accepted as long as asked', async (t) => {
  const { create, created } = await cluster(t);
  const before = Date.now();
  t.equal((await create([...SOURCES, '--token-hours', '48'])).code, 0);
  const body = created()[0]?.body;
  const text = JSON.stringify(body);
  const [, expiration = ''] = /"expiration":"([^"]+)"/.exec(text) ?? [];
  const hours = (Date.parse(expiration) - before) / 3_600_000;
  t.ok(hours > 47.9 && hours < 48.1, expiration);
});

t.test('the API server may have another name or address', async (t) => {
  for (const [given, expected] of [
    ['192.0.2.10', '192.0.2.10:6443'],
    ['api.example.test:8443', 'api.example.test:8443'],
    ['[2001:db8::1]', '[2001:db8::1]:6443'],
  ] as const) {
    await t.test(given, async (t) => {
      const { dir, create } = await cluster(t);
      t.equal((await create([...SOURCES, '--api-server', given])).code, 0);
      const config = await readIgnition(dir);
      t.equal(contentsOf(config, '/etc/sno-agents/api.env'), `API_SERVER=${expected}\n`);
    });
  }
});

t.test('wrong input creates no token and no file', async (t) => {
  const rows: [title: string, args: readonly string[], says: RegExp, state?: string][] = [
    ['hours in words', [...SOURCES, '--token-hours', 'ten'], /--token-hours .* from 1 to 336/],
    ['too many hours', [...SOURCES, '--token-hours', '337'], /--token-hours/],
    ['no hours', [...SOURCES, '--token-hours', '0'], /--token-hours/],
    ['a URL', [...SOURCES, '--api-server', 'https://a:1'], /--api-server/],
    ['a line', [...SOURCES, '--api-server', 'a\nB=c'], /--api-server/],
    ['no payload', [], /the digest of the payload is missing/],
    ['an unfinished installation', SOURCES, /is not installed.*found installing/, 'installing'],
    ['another cluster', SOURCES, /is not installed.*no such state/, 'absent'],
    ['no kubeconfig', [...SOURCES, '--kubeconfig', '/nonexistent'], /kubeconfig/],
  ];
  for (const [title, args, says, state] of rows) {
    await t.test(title, async (t) => {
      const { dir, create, posted } = await cluster(t, state);
      const { code, err } = await create(args);
      t.equal(code, 2);
      t.match(err.replace(/\n/g, ' '), says);
      t.same(posted(), []);
      await t.rejects(stat(join(dir, 'worker.ign')), { code: 'ENOENT' });
    });
  }
});

t.test('pods of the control-plane node are routed from now on', async (t) => {
  const { api, create } = await cluster(t);
  const { err } = await create(SOURCES);
  t.match(err, /has no image flannel/, 'the payload of this cluster');
  const patches = api.requests.filter(({ method }) => method === 'PATCH');
  t.match(patches, [
    { path: NODE, body: { metadata: { labels: { 'sno-agents/routed-pods': '' } } } },
  ]);
  t.equal(patches.length, 1);

  const other = await cluster(t);
  other.api.set(FLANNEL, { metadata: { name: 'flannel', namespace: 'kube-system' } });
  t.notMatch((await other.create(SOURCES)).err, /flannel/);
});

t.test('workers of a cluster that an earlier release installed may follow its CA', async (t) => {
  const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system';
  const { api, create, posted } = await cluster(t);
  // What such a cluster has: the right before a worker has joined.
  const existing = {
    metadata: { name: 'sno:worker-api-trust', namespace: 'kube-system' },
    mine: 1,
  };
  api.set(`${RBAC}/roles/sno:worker-api-trust`, existing);
  api.set(`${RBAC}/rolebindings/sno:worker-api-trust`, existing);
  t.equal((await create(SOURCES)).code, 0);
  t.match(api.get(`${RBAC}/rolebindings/sno:node-api-trust`), {
    kind: 'RoleBinding',
    roleRef: { kind: 'Role', name: 'sno:worker-api-trust' },
    subjects: [{ kind: 'Group', name: 'system:nodes' }],
  });
  t.match(api.get(`${RBAC}/roles/sno:worker-api-trust`), { mine: 1 }, 'what exists stays');
  t.equal(posted().length, 4, 'and the token');
});

t.test('another kubeconfig may be used', async (t) => {
  const { dir, create } = await cluster(t);
  const other = join(dir, 'other.kubeconfig');
  await writeFile(other, await readFile(join(dir, 'auth/kubeconfig'), 'utf8'), { mode: 0o600 });
  await writeFile(join(dir, 'auth/kubeconfig'), 'damaged');
  t.equal((await create([...SOURCES, '--kubeconfig', other])).code, 0);
});
