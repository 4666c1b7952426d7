/** Backups of the rendered control plane, which runs as a kubelet would run it, and their restore. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { backupContext } from '../../agents/steps/backup/context.ts';
import { hostContext, signedRights } from '../../agents/steps/host-context.ts';
import { restoreContext } from '../../agents/steps/restore/context.ts';
import { runBackup } from '../../agents/upkeep/backup/main.ts';
import { backupPlan } from '../../agents/upkeep/backup/plan.ts';
import { backupRestorePlan } from '../../agents/upkeep/backup/restore/plan.ts';
import { etcdBinaries } from '../../lab/servers/binaries.ts';
import { limits, makeTls, startEtcd } from '../../lab/servers/etcd-member.ts';
import { relocatedFile } from '../../lab/servers/relocate.ts';
import { readManifest } from '../../lib/change/backup/store.ts';
import { restoreChange } from '../../lib/change/restore/request.ts';
import { restoreSnapshot } from '../../lib/clients/etcd/restore.ts';
import { waitForApi } from '../../lib/clients/kube/api-ready.ts';
import type { KubeClient } from '../../lib/clients/kube/client.ts';
import { runAgentCommand } from '../../lib/engine/steps/agent-command.ts';
import { exists } from '../../lib/host/files.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import { liveHost } from '../../lib/render/hosts.ts';
import { authorityPaths } from '../../lib/render/kubernetes/authorities.ts';
import { encryptionConfigPath } from '../../lib/render/kubernetes/encryption.ts';
import { placeFiles } from '../../lib/render/store.ts';
import { cluster } from '../unit/agents/host/cluster.ts';
import { SYSTEMCTL } from '../unit/agents/host/kubelet-unit.ts';
import { FakePrograms } from '../unit/agents/host/programs.ts';
import { rendered, textAt } from '../unit/render/rendered-host.ts';
import { startStandInKubelet } from './backup/stand-in-kubelet.ts';
import { ask } from './control-plane/request.ts';
import { eventually, leafOf } from './control-plane/world.ts';

const signal = new AbortController().signal;
const folder = await mkdtemp(join(tmpdir(), 'backup-'));
const root = join(folder, 'host');
t.teardown(() => rm(folder, { recursive: true, force: true }));
const kubelet = await startStandInKubelet(root, signal);
t.teardown(() => kubelet.stop());
const at = (port: number) => `https://127.0.0.1:${kubelet.port(port)}`;
const paths = hostPaths(root, { api: at(6443), etcd: at(2379) });
await placeFiles(paths, liveHost, {
  ...rendered,
  files: rendered.files.map((file) => relocatedFile(file, kubelet)),
});
await mkdir(paths.binaries, { recursive: true });
const { etcd, etcdutl } = await etcdBinaries(signal);
await symlink(etcdutl, join(paths.binaries, 'etcdutl'));
await mkdir(paths.config, { recursive: true });
await writeFile(join(paths.config, 'cluster.json'), JSON.stringify(cluster));
const settings = {
  restoreStopMs: 60_000,
  restoreStartMs: 120_000,
  backupMinFreeMiB: 1,
  retryMs: 200,
};
await writeFile(join(paths.config, 'settings.json'), JSON.stringify(settings));
const programs = new FakePrograms(t, join(folder, 'bin'), root, 'real');
programs.give('systemctl', SYSTEMCTL);
// etcd's file has another name on a host that a live host wrote.
for (const { component, file, manifest } of rendered.staticPods) {
  const name = component === 'etcd' ? 'etcd-pod.yaml' : file;
  await writeFile(join(paths.staticPods, name), manifest, { mode: 0o600 });
}

const ca = textAt(authorityPaths('serving').certificate);
const admin = await leafOf('admin', 'tester', { organizations: ['system:masters'] });
const api = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) =>
  ask({ port: kubelet.port(6443), ca, ...admin, method, path, ...(body ? { body } : {}) });
const context = await hostContext(paths);
const { withAdministrator } = signedRights(context);
const withApi = <T>(use: (client: KubeClient) => Promise<T>) =>
  withAdministrator({ remainingMs: () => 120_000 }, use);
const apiReady = () =>
  withApi((client) => waitForApi(client, { signal, deadlineMs: 120_000, report: () => {} }));

const secrets = '/api/v1/namespaces/default/secrets';
const configMaps = '/api/v1/namespaces/default/configmaps';
const code = async (path: string) => (await api('GET', path)).code;
async function create(path: string, name: string, more: object = {}): Promise<void> {
  await eventually(`${path}/${name} created`, async () => {
    const given = await api('POST', path, { metadata: { name }, ...more }).catch(() => undefined);
    return given?.code === 201 ? given : undefined;
  });
}
const listVersion = async (path: string): Promise<string> =>
  JSON.parse((await api('GET', path)).body).metadata.resourceVersion;

const output = { write: (line: string) => t.comment(line.trim()), isJournal: false };
const backUp = () =>
  runAgentCommand(
    {
      plan: backupPlan({ ...defaultSettings, ...settings }),
      paths,
      context: () => backupContext(paths),
    },
    ['run'],
    output,
  );

/** The plan, but for the steady state: this host has no Node. */
function restore(...args: string[]) {
  const plan = backupRestorePlan({ ...defaultSettings, ...settings });
  const steps = plan.steps.filter(({ name }) => name !== 'steady-state');
  return runAgentCommand(
    { plan: { ...plan, steps }, paths, context: () => restoreContext(paths) },
    ['run', ...args],
    output,
  );
}
let requests = 0;
const request = (backup: string) =>
  restoreChange.write(paths, {
    schemaVersion: 1,
    backup,
    requestedAt: new Date(Date.now() + 1000 * requests++).toISOString(),
  });
const backups = join(paths.state, 'backups');
const newest = async () => (await readdir(backups)).toSorted().at(-1) ?? '';

async function command(...args: string[]) {
  const written: string[] = [];
  const errors: string[] = [];
  const { write } = process.stderr;
  process.stderr.write = (text: string | Uint8Array) => errors.push(String(text)) > 0;
  try {
    const exit = await runBackup(paths, args, { write: (text) => void written.push(text) });
    return { exit, written: written.join(''), errors: errors.join('') };
  } finally {
    process.stderr.write = write;
  }
}

await apiReady();
await create(secrets, 'before', { stringData: { password: 'correct horse' } });
await create(configMaps, 'deleted-later');

t.test('a backup of the running etcd is complete, private and hashed', async (t) => {
  t.equal(await backUp(), 0);
  const name = await newest();
  const manifest = await readManifest(join(backups, name));
  t.equal(manifest.clusterId, cluster.clusterId);
  const copied = manifest.files.map(({ host }) => host);
  for (const path of [encryptionConfigPath, authorityPaths('etcd').key])
    t.ok(copied.includes(path));
  t.match(await command('list'), { exit: 0, written: new RegExp(`${name} +complete`) });
  const bytes = await readFile(join(backups, name, 'etcd-snapshot.db'));
  t.notOk(bytes.includes('correct horse'), 'Secrets are encrypted');

  // What was recorded is what an etcd says that runs with the snapshot.
  const tls = await makeTls();
  const dataDir = join(folder, 'proof-data');
  const { revision, hashKv } = manifest.etcd;
  const sha256 = manifest.files[0]?.sha256 ?? '';
  await restoreSnapshot(join(backups, name, 'etcd-snapshot.db'), dataDir, {
    ...{ name: 'etcd', token: 'test', peerUrl: 'http://127.0.0.1:2380' },
    ...{ expected: { sha256, revision }, etcdutl, signal, deadlineMs: 60_000 },
  });
  const proof = await startEtcd(etcd, join(folder, 'proof'), dataDir, tls);
  t.teardown(() => proof.stop());
  t.strictSame(await proof.client.hashKv(revision, limits()), { ...hashKv, revision });
});

t.test('a restore brings back what was deleted, and takes what came later', async (t) => {
  const name = await newest();
  await api('DELETE', `${configMaps}/deleted-later`);
  await create(configMaps, 'created-later');
  const seen = await listVersion(configMaps);
  await request(name);
  t.equal(await restore(), 0);
  t.equal(await code(`${configMaps}/deleted-later`), 200);
  t.equal(await code(`${configMaps}/created-later`), 404);
  const secret = JSON.parse((await api('GET', `${secrets}/before`)).body);
  t.equal(Buffer.from(secret.data.password, 'base64').toString(), 'correct horse');
  t.ok(Number(await listVersion(configMaps)) > 1_000_000_000, 'revisions are bumped');
  const watch = `${configMaps}?watch=true&timeoutSeconds=5&resourceVersion=${seen}`;
  t.match((await api('GET', watch)).body, /"code":410/, 'a watcher must list again');
  t.equal(await restoreChange.read(paths), undefined);
  t.match(await restoreChange.last(paths), { backup: name, failure: undefined });
  t.ok(programs.calls('systemctl restart').some((call) => call.includes('kubelet.service')));
  const replaced = (await readdir(join(root, 'var/lib'))).filter((each) => /replaced/.test(each));
  t.equal(replaced.length, 1, 'the database from before is kept');
});

t.test('killed after any step, it goes on', async (t) => {
  const name = await newest();
  await create(configMaps, 'created-later');
  await request(name);
  for (const step of ['rebuild', 'stop', 'replace', 'start', 'undo']) {
    t.equal(await restore('--until', step), 0, step);
  }
  t.equal(await restore(), 0);
  t.equal(await code(`${configMaps}/created-later`), 404);
  t.equal(await code(`${configMaps}/deleted-later`), 200);
});

t.test('a database that does not start is replaced by the one from before', async (t) => {
  const name = await newest();
  await create(configMaps, 'kept');
  await request(name);
  t.equal(await restore('--until', 'replace'), 0);
  // A damaged database: no check before the start of etcd sees it.
  await writeFile(join(paths.etcdData, 'member/snap/db'), Buffer.alloc(65_536, 7));
  await writeFile(
    join(paths.config, 'settings.json'),
    JSON.stringify({ ...settings, restoreStartMs: 8000 }),
  );
  const plan = backupRestorePlan({ ...defaultSettings, ...settings, restoreStartMs: 8000 });
  const steps = plan.steps.filter((step) => step.name !== 'steady-state');
  const exit = await runAgentCommand(
    { plan: { ...plan, steps }, paths, context: () => restoreContext(paths) },
    ['run'],
    output,
  );
  t.equal(exit, 4);
  t.match(await restoreChange.last(paths), { backup: name, failure: { code: String } });
  await apiReady();
  t.equal(await code(`${configMaps}/kept`), 200, 'nothing is lost');
  t.notOk(await exists(`${paths.etcdData}.rebuilt`));
});

t.test('Secrets of a backup are readable after the encryption key was replaced', async (t) => {
  const name = await newest();
  const path = paths.at(encryptionConfigPath);
  const before = await readFile(path, 'utf8');
  const other = parse(before);
  const key = Buffer.alloc(32, 9).toString('base64');
  other.resources[0].providers[0].secretbox.keys[0].secret = key;
  await writeFile(path, stringify(other));
  await request(name);
  t.equal(await restore(), 0);
  t.equal(await code(`${secrets}/before`), 200);
  await create(secrets, 'after', { stringData: { password: 'new' } });
  t.equal(parse(await readFile(path, 'utf8')).resources[0].providers.length, 2);
  t.match(await readFile(path, 'utf8'), new RegExp(key.slice(0, 20)), 'the present key writes');
});

t.test('a damaged backup is refused, and nothing changes', async (t: Test) => {
  const name = await newest();
  const copy = '20200101T000000Z';
  const db = join(backups, copy, 'etcd-snapshot.db');
  await cp(join(backups, name), join(backups, copy), { recursive: true });
  const bytes = await readFile(db);
  bytes[5000] = (bytes[5000] ?? 0) ^ 1;
  await writeFile(db, bytes);
  const running = kubelet.running();
  const refused = await command('restore', '--from', copy, '--yes');
  t.equal(refused.exit, 2);
  t.match(refused.errors, /etcd-snapshot\.db: expected SHA-256/);
  t.equal(await restoreChange.read(paths), undefined);
  t.same(kubelet.running(), running);
  t.match(await command('restore', '--from', name), { exit: 2, errors: /not confirmed/ });
});
