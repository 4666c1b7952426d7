/** From the laptop's administrator to that of the host, against the rendered control plane. */
import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import type { RenewContext } from '../../agents/steps/certificates/context.ts';
import { readAttempts } from '../../agents/upkeep/renew/attempts.ts';
import { concludeRenewal } from '../../agents/upkeep/renew/conclude.ts';
import { laptopCa } from '../../agents/upkeep/renew/laptop-ca.ts';
import { Hub } from '../../cli/fleet/worker/hub.ts';
import { forgetConfig, keepExchanged } from '../../cli/fleet/worker/keep-kubeconfig.ts';
import { readKept, writeKept } from '../../cli/fleet/worker/kept.ts';
import { hubKinds } from '../../cli/fleet/worker/kinds.ts';
import { runSno } from '../../cli/sno.ts';
import { exchangeKubeconfig } from '../../cli/wait-for/exchange.ts';
import { createAuthority, issueLeaf } from '../../lab/certificates/signed-now.ts';
import { createLogger } from '../../lib/base/log/logger.ts';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import { publishInstallationStatus } from '../../lib/clients/kube/installation-status.ts';
import { readKubeconfig } from '../../lib/clients/kube/kubeconfig.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { clusterDomain } from '../../lib/config/cluster/cluster.ts';
import { API_VERSION } from '../../lib/engine/report/site-status.ts';
import { Progress } from '../../lib/engine/steps/progress.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import { certificatesIn, inspectCertificate } from '../../lib/pki/certificate.ts';
import { adminKubeconfig } from '../../lib/pki/kubeconfig.ts';
import { authorityPaths, laptopAdminCa } from '../../lib/render/kubernetes/authorities.ts';
import { apiServerTrust } from '../../lib/render/kubernetes/kube-apiserver.ts';
import { cluster } from '../unit/agents/host/cluster.ts';
import { authorities, textAt } from '../unit/render/rendered-host.ts';
import { leafOf, NAMESPACE, NODE, startWorld } from './control-plane/world.ts';

const LIMIT_MS = 240_000;
const root = await mkdtemp(join(tmpdir(), 'exchange-'));
let stop = async () => {};
t.teardown(async () => {
  await stop();
  await rm(root, { recursive: true, force: true });
});
const world = await startWorld(join(root, 'host'));
stop = world.stop;
const signal = AbortSignal.timeout(10 * 60_000);
const limits = { signal, deadlineMs: 30_000 };
const dir = join(root, 'D');
const path = join(dir, 'auth/kubeconfig');
const server = `https://127.0.0.1:${world.plane.port(6443)}`;
const record = { namespace: 'kube-system', name: 'sno-administrators' };

/** As `sno create` writes it, with this server's port. */
const first = (
  await adminKubeconfig(clusterDomain(cluster), cluster.name, authorities, new Date())
).replace(/https:\S+/, server);
mkdirSync(join(dir, 'auth'), { recursive: true });
const place = (text: string) => writeFileSync(path, text, { mode: 0o600 });
place(first);

const userOf = (text: string) => parse(text).users[0].user;
const certificateOf = (text: string) =>
  Buffer.from(userOf(text)['client-certificate-data'], 'base64').toString();

/** The status with which the API server answers the user of a kubeconfig. */
async function statusFor(text: string): Promise<number> {
  const copy = join(root, 'copy');
  writeFileSync(copy, text, { mode: 0o600 });
  using client = new KubeClient(await readKubeconfig(copy));
  return (await client.raw('/api/v1/nodes', limits)).code;
}

const requests = async () =>
  (await world.plane.admin.list(resources.certificateSigningRequests, {}, limits)).items;
const recorded = () => world.plane.admin.find(resources.configMaps, record, limits);

const said: string[] = [];
const exchange = (more: Partial<Parameters<typeof exchangeKubeconfig>[1]> = {}) => {
  said.length = 0;
  const say = (line: string) => void said.push(line);
  return exchangeKubeconfig(path, {
    signal,
    signingMs: 60_000,
    publishedMs: 60_000,
    now: () => new Date(),
    say,
    ...more,
  });
};

const hostRoot = join(root, 'host');
const context = (renewProofMs = defaultSettings.renewProofMs, at = hostRoot): RenewContext => ({
  paths: hostPaths(at, { api: server }),
  settings: { ...defaultSettings, renewProofMs },
  cluster,
  hostname: () => NODE,
  bootTime: async () => new Date(),
  run: randomUUID(),
});
const progress = () => {
  const log = createLogger({ write: (line) => t.comment(line.trim()), priorities: false });
  const within = AbortSignal.timeout(LIMIT_MS);
  return new Progress(within, performance.now() + LIMIT_MS, log, { waiting: () => true });
};
const onHost = (file: string) => join(hostRoot, file);
const bundle = () => certificatesIn(readFileSync(onHost(apiServerTrust.clients), 'utf8'));

t.test('before: the laptop is trusted, and the host goes on trusting it', async (t) => {
  t.equal(await statusFor(first), 200);
  const before = bundle();
  t.same(await laptopCa.run(context(), progress()), {
    kind: 'done',
    note: 'trusted: auth/kubeconfig was not exchanged',
  });
  t.same(bundle(), before);
  t.same(await concludeRenewal.run(context(), progress()), { kind: 'done' });
});

t.test('only administrators can write the record', async (t) => {
  const { api, admin } = world;
  const group = 'rbac.authorization.k8s.io';
  const editor = await leafOf('admin', 'exchange-editor');
  const binding = {
    metadata: { name: 'exchange-editor' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: group, kind: 'User', name: 'exchange-editor' }],
  };
  const bindings = `/apis/${group}/v1/namespaces/${NAMESPACE}/rolebindings`;
  t.equal((await api({ ...admin, method: 'POST', path: bindings, body: binding })).code, 201);
  const configMaps = '/api/v1/namespaces/kube-system/configmaps';
  const body = { metadata: { name: record.name }, data: { laptopCa: 'replaced' } };
  for (const caller of [editor, world.node, world.pod, world.approver]) {
    t.equal((await api({ ...caller, method: 'POST', path: configMaps, body })).code, 403);
  }
});

t.test('a request that is never signed leaves everything as it was', async (t) => {
  const failure = await exchange({ signingMs: 1 }).catch((error: unknown) => error);
  t.match(failure, {
    kind: 'retry',
    code: 'kubeconfig-not-exchanged',
    message: /installation is complete, .*was not exchanged; found waited .*to sign/,
  });
  t.equal(readFileSync(path, 'utf8'), first);
  t.equal(await recorded(), undefined);
  t.same(await requests(), []);
});

t.test('without an API server everything stays as it was', async (t) => {
  const text = first.replace(server, 'https://127.0.0.1:1');
  place(text);
  await t.rejects(exchange(), {
    kind: 'retry',
    message: /was not exchanged; found .*ECONNREFUSED/,
  });
  t.equal(readFileSync(path, 'utf8'), text);
  place(first);
});

t.test('wait-for install-complete exchanges it', async (t) => {
  const status = { version: '0.1.0', state: 'complete', step: 'complete' } as const;
  const time = new Date().toISOString();
  const clusterId = '0b9bd1a2-8a5e-4bb5-9c1f-3a0f7c7f3c11';
  await publishInstallationStatus(world.plane.admin, { ...status, time, clusterId }, limits);
  const printed: string[] = [];
  const complain = (text: string) => void printed.push(text);
  const surroundings = { environment: {}, print: complain, complain, signal };
  const command = ['wait-for', 'install-complete', '--timeout', '5m', '--dir', dir];
  t.equal(await runSno(command, surroundings), 0, printed.join('\n'));
  t.match(
    printed.join('\n'),
    /Exchanged .*valid until 20\d\d-.*this command renews it\n.*sno-renew/,
  );
  t.match(printed.join('\n'), /\n.*Destroy .*Ignition config/);
  t.match(printed.join('\n'), /\n.*Wrote .*backup-signer\.json/);
  t.same(JSON.parse(readFileSync(join(dir, 'auth/backup-signer.json'), 'utf8')), {
    schemaVersion: 1,
    clusterId,
    certificate: textAt(authorityPaths('admin').certificate),
  });
  const text = readFileSync(path, 'utf8');
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.match(inspectCertificate(certificateOf(text)), {
    subject: { commonName: 'system:admin', organizations: ['sno:administrators'] },
    issuer: { commonName: 'admin-ca' },
    clientAuth: true,
  });
  const { notAfter } = inspectCertificate(certificateOf(text));
  const days = (notAfter.getTime() - Date.now()) / 86_400_000;
  t.ok(days > 364 && days <= 365, `${days} days`);
  t.not(userOf(text)['client-key-data'], userOf(first)['client-key-data']);
  t.equal(parse(text).clusters[0].cluster.server, server);
  t.equal(await statusFor(text), 200);
  t.equal(await statusFor(first), 200, 'until the host was told');
  t.match((await recorded())?.data, { laptopCa: 'replaced' });
  t.same(await requests(), []);
});

t.test('again: nothing changes until its last third; then it is renewed', async (t) => {
  const text = readFileSync(path, 'utf8');
  await exchange();
  t.equal(readFileSync(path, 'utf8'), text);
  t.match(said, [/was exchanged: valid until/]);
  const { notAfter } = inspectCertificate(certificateOf(text));
  await exchange({ now: () => new Date(notAfter.getTime() - 100 * 86_400_000) });
  const renewed = readFileSync(path, 'utf8');
  t.not(renewed, text);
  t.match(said, [/^Exchanged/]);
  t.equal(said.length, 1, 'nothing is left to be destroyed');
  t.equal(await statusFor(renewed), 200);
});

t.test('killed after the file was written: the next run records it', async (t) => {
  await world.plane.admin.remove(resources.configMaps, record, limits);
  await exchange();
  t.match((await recorded())?.data, { laptopCa: 'replaced' });
});

t.test('who keeps it elsewhere has it before the host is told', async (t) => {
  await world.plane.admin.remove(resources.configMaps, record, limits);
  place(first);
  await t.rejects(exchange({ keep: () => Promise.reject(new Error('no hub')) }), /no hub/);
  t.equal(await recorded(), undefined, 'the first one is good for the next attempt');
  place(first);
  await exchange();
  t.match((await recorded())?.data, { laptopCa: 'replaced' });
});

t.test('on a hub: the config is forgotten, and the new kubeconfig kept', async (t) => {
  await world.plane.admin.remove(resources.configMaps, record, limits);
  const hub = new Hub(world.plane.admin, NAMESPACE, signal);
  const metadata = { name: 'berlin', namespace: NAMESPACE, uid: randomUUID() };
  const spec = { action: 'install', serial: 1 } as const;
  const site = { apiVersion: API_VERSION, kind: 'Site', metadata, spec } as const;
  const outputs = [
    { path: 'auth/kubeconfig', contents: first },
    { path: 'metadata.json', contents: '{}' },
  ];
  const of = { serial: 1, uid: metadata.uid, source: 'x', reportTo: 'x', machines: [], asked: [] };
  const made = { config: 'the key of the laptop', outputs };
  const kept = { ...of, iso: 'a'.repeat(32), sha256: 'x', made };
  const secrets = async (name: string) => {
    const { data = {} } = (await hub.find(hubKinds.secrets, name)) ?? {};
    return new Map(
      Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]),
    );
  };
  const stored = await writeKept(hub, site, kept, undefined);
  t.ok((await secrets('berlin-auth')).has('live.ign.gz'));
  const forgotten = await forgetConfig(hub, site, stored);
  await keepExchanged(hub, site, forgotten, { deadlineMs: 60_000, print: () => undefined });
  const auth = await secrets('berlin-auth');
  t.notOk(auth.has('live.ign.gz'));
  const kubeconfig = auth.get('kubeconfig') ?? '';
  t.not(kubeconfig, first);
  t.equal(await statusFor(kubeconfig), 200);
  const administrator = await secrets('berlin-admin-kubeconfig');
  t.equal(administrator.get('kubeconfig'), kubeconfig);
  t.match(administrator.get('backup-signer.json'), /"clusterId"/);
  t.match((await recorded())?.data, { laptopCa: 'replaced' });
  const again = await readKept(hub, site);
  if (again === undefined) throw new Error('nothing is kept');
  await keepExchanged(hub, site, again, { deadlineMs: 60_000, print: () => undefined });
  t.equal((await secrets('berlin-auth')).get('kubeconfig'), kubeconfig, 'once');
});

t.test('an API server that does not take up the file: it is not deleted', async (t) => {
  // A copy of the host's files, of which the API server knows nothing.
  const copy = join(root, 'ignored');
  cpSync(join(hostRoot, 'etc'), join(copy, 'etc'), { recursive: true });
  const ignored = context(1, copy);
  t.same(await laptopCa.run(ignored, progress()), { kind: 'done', note: 'failed' });
  t.match(await readAttempts(ignored.paths), [{ failure: { code: 'laptop-ca-trusted' } }]);
  t.equal(readFileSync(join(copy, laptopAdminCa), 'utf8'), authorities.adminCa.certificate);
  await t.rejects(concludeRenewal.run(ignored, progress()), {
    code: 'renewal-failed',
    message: /^the laptop's CA is still trusted; .*found that of the laptop/,
  });
});

t.test('sno-renew ends the trust: the laptop is refused, the host is not', async (t) => {
  const own = [authorityPaths('kubelet-client'), authorityPaths('admin')];
  t.equal(await laptopCa.holds(context(), progress()), false);
  t.same(await laptopCa.run(context(), progress()), {
    kind: 'done',
    note: 'refused from now on',
  });
  t.equal(await statusFor(first), 401);
  t.equal(await statusFor(readFileSync(path, 'utf8')), 200);
  t.same(
    bundle(),
    own.map(({ certificate }) => textAt(certificate)),
  );
  const published = await world.plane.admin.get(
    resources.configMaps,
    { namespace: 'kube-system', name: 'extension-apiserver-authentication' },
    limits,
  );
  t.notOk(published.data?.['client-ca-file']?.includes(authorities.adminCa.certificate));
  t.throws(() => statSync(onHost(laptopAdminCa)), { code: 'ENOENT' });
  t.equal(await laptopCa.holds(context(), progress()), true);
  t.same(await laptopCa.run(context(), progress()), { kind: 'done', note: 'nothing trusts it' });
});

t.test('a kubeconfig by hand is kept', async (t) => {
  const other = await leafOf('admin', 'somebody', { organizations: ['system:masters'] });
  const data = (pem: string) => Buffer.from(pem).toString('base64');
  const config = parse(readFileSync(path, 'utf8'));
  config.users[0].user = {
    'client-certificate-data': data(other.certificate),
    'client-key-data': data(other.key),
  };
  const text = JSON.stringify(config);
  place(text);
  await exchange();
  t.equal(readFileSync(path, 'utf8'), text);
  t.match(said, [/not one that sno created/]);
});

t.test('an administrator whose group has no rights is not used', async (t) => {
  // Signed by the laptop for a host that trusts it still: its CA is put back.
  const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/sno:administrators';
  const { admin } = world.plane;
  const laptop = await createAuthority('sno-laptop-admin-ca');
  const profile = { subject: { commonName: 'system:admin', organizations: ['system:masters'] } };
  const leaf = await issueLeaf(laptop, { ...profile, usage: 'client' });
  writeFileSync(onHost(apiServerTrust.clients), [...bundle(), laptop.certificate].join(''));
  const config = parse(first);
  config.users[0].user = {
    'client-certificate-data': Buffer.from(leaf.certificate).toString('base64'),
    'client-key-data': Buffer.from(leaf.key).toString('base64'),
  };
  const text = JSON.stringify(config);
  const endsAt = performance.now() + 120_000;
  while ((await statusFor(text)) !== 200) {
    if (performance.now() > endsAt) throw new Error('the CA was not taken up');
  }
  place(text);
  await admin.json({ method: 'DELETE', path: bindings }, limits);
  t.teardown(() => rmSync(path));
  await t.rejects(exchange(), {
    kind: 'retry',
    message: /may not do everything.*ClusterRoleBinding sno:administrators/,
  });
  t.equal(readFileSync(path, 'utf8'), text);
});
