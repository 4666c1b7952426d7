import { existsSync } from 'node:fs';
import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { z } from 'zod';
import { saveBackupSigner } from '../../../cli/wait-for/backup-signer.ts';
import { exchangeKubeconfig } from '../../../cli/wait-for/exchange.ts';
import { createAuthority, createLaptopAuthorities } from '../../../lab/certificates/signed-now.ts';
import { adminKubeconfig } from '../../../lib/pki/kubeconfig.ts';
import { certifyKey } from '../../../lib/pki/leaf.ts';
import { x509 } from '../../../lib/pki/x509.ts';
import { FakeApi, refusal } from '../clients/kube/fake-api.ts';
import { serveApi, servingAuthority } from '../gather/cluster/serve-api.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const ROOT_CA = '/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt';
const RECORD = '/api/v1/namespaces/kube-system/configmaps/sno-administrators';
const signer = await createAuthority('admin-ca');
const laptop = await createLaptopAuthorities();
const other = await createAuthority('another-serving-ca');
const base64 = (text: string) => Buffer.from(text).toString('base64');

const requestSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({ request: z.base64() }),
});

interface Cluster {
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly allowed?: boolean;
  /** Data of ConfigMap kube-root-ca.crt. */
  readonly published?: string;
}

/** A cluster that signs what is approved, and a folder with the first kubeconfig. */
async function cluster(
  t: Test,
  {
    user = 'system:admin',
    groups = ['sno:administrators', 'system:authenticated'],
    allowed = true,
    published = servingAuthority,
  }: Cluster = {},
) {
  const api = new FakeApi();
  const { port } = await serveApi(t, (message, response) => api.answer(message, response));
  const metadata = { name: 'kube-root-ca.crt', namespace: 'kube-system' };
  api.set(ROOT_CA, { metadata, data: { 'ca.crt': published } });
  api.rule(async ({ method, path, body }) => {
    if (path.endsWith('/selfsubjectreviews')) {
      return { code: 201, body: { status: { userInfo: { username: user, groups } } } };
    }
    if (path.endsWith('/selfsubjectaccessreviews')) {
      return { code: 201, body: { status: { allowed } } };
    }
    if (method !== 'PUT' || !path.endsWith('/approval')) return undefined;
    const request = requestSchema.parse(body);
    const pem = Buffer.from(request.spec.request, 'base64').toString();
    const now = new Date();
    const certificate = await certifyKey(
      signer,
      new x509.Pkcs10CertificateRequest(pem).publicKey,
      {
        subject: { commonName: 'system:admin', organizations: ['sno:administrators'] },
        usage: 'client',
      },
      { now, validFrom: now },
    );
    const { name } = request.metadata;
    const signed = { ...request, status: { certificate: base64(certificate) } };
    setImmediate(() => api.set(`${REQUESTS}/${name}`, signed));
    return { code: 200, body: request };
  });
  const config = parse(await adminKubeconfig('edge.example.test', 'edge', laptop, new Date()));
  config.clusters[0].cluster = {
    server: `https://127.0.0.1:${port}`,
    'certificate-authority-data': base64(servingAuthority),
  };
  const first = JSON.stringify(config);
  const path = join(t.testdir(), 'kubeconfig');
  await writeFile(path, first, { mode: 0o600 });
  const said: string[] = [];
  const run = (at = path, publishedMs = 60_000) =>
    exchangeKubeconfig(at, {
      signal: AbortSignal.timeout(60_000),
      signingMs: 60_000,
      publishedMs,
      now: () => new Date(),
      say: (line) => said.push(line),
    });
  const save = () =>
    saveBackupSigner(path, { signal: AbortSignal.timeout(60_000), say: (line) => said.push(line) });
  const saved = async () =>
    JSON.parse(await readFile(join(dirname(path), 'backup-signer.json'), 'utf8'));
  return { api, path, first, run, said, save, saved };
}

const caIn = (text: string): string =>
  Buffer.from(parse(text).clusters[0].cluster['certificate-authority-data'], 'base64').toString();

t.test('the published CA is kept if the server can be verified with it', async (t) => {
  for (const [published, expected] of [
    [servingAuthority + other.certificate, servingAuthority + other.certificate],
    [other.certificate, servingAuthority],
  ] as const) {
    const it = await cluster(t, { published });
    await it.run();
    const text = await readFile(it.path, 'utf8');
    t.not(text, it.first);
    t.equal(caIn(text), expected);
    t.match(it.api.get(RECORD), { data: { laptopCa: 'replaced' } });
  }
});

t.test('a CA that is published later is handed over by the next run', async (t) => {
  const it = await cluster(t);
  await it.run();
  const before = await readFile(it.path, 'utf8');
  const both = other.certificate + servingAuthority;
  it.api.set(ROOT_CA, { metadata: { name: 'kube-root-ca.crt' }, data: { 'ca.crt': both } });
  await it.run();
  const after = await readFile(it.path, 'utf8');
  t.equal(caIn(after), both);
  t.same(parse(after).users, parse(before).users, 'the administrator is the same');
  t.equal((await stat(it.path)).mode & 0o777, 0o600);
  t.match(it.said.at(-1), /has the present CA of the API server$/);
  const lines = it.said.length;
  await it.run();
  t.equal(await readFile(it.path, 'utf8'), after, 'once');
  t.equal(it.said.length, lines + 1);
  // One that cannot verify the server would lock the administrator out.
  const wrong = other.certificate;
  it.api.set(ROOT_CA, { metadata: { name: 'kube-root-ca.crt' }, data: { 'ca.crt': wrong } });
  await it.run();
  t.equal(await readFile(it.path, 'utf8'), after);
});

t.test(
  'it waits for the published CA: with that of the medium, a rotation would lock it out',
  async (t) => {
    const it = await cluster(t, { published: 'no certificate' });
    await t.rejects(it.run(it.path, 1), {
      kind: 'retry',
      code: 'kubeconfig-not-exchanged',
      message: /found waited 0s for the authority of the API server/,
    });
    t.equal(await readFile(it.path, 'utf8'), it.first);
    const running = it.run();
    while (it.said.length === 0) await new Promise((resolve) => setImmediate(resolve));
    t.match(it.said, [/Waiting for the authority of the API server: it is not in ConfigMap/]);
    const metadata = { name: 'kube-root-ca.crt', namespace: 'kube-system' };
    const both = servingAuthority + other.certificate;
    it.api.set(ROOT_CA, { metadata, data: { 'ca.crt': both } });
    await running;
    t.equal(caIn(await readFile(it.path, 'utf8')), both);
  },
);

const NOT_ADMINISTRATORS: readonly [what: string, cluster: Cluster, found: RegExp][] = [
  ['another name', { user: 'system:anonymous' }, /another name; .*found system:anonymous/],
  ['no group', { groups: ['system:authenticated'] }, /found system:admin in system:auth/],
  ['no rights', { allowed: false }, /may not do everything; expected ClusterRoleBinding/],
];

for (const [what, options, found] of NOT_ADMINISTRATORS) {
  t.test(`an administrator with ${what} does not replace one that works`, async (t) => {
    const it = await cluster(t, options);
    await t.rejects(it.run(), {
      kind: 'retry',
      code: 'kubeconfig-not-exchanged',
      message: found,
    });
    t.equal(await readFile(it.path, 'utf8'), it.first);
    t.equal(it.api.get(RECORD), undefined);
    t.same(it.said, []);
  });
}

t.test('a record that cannot be written leaves a kubeconfig that works', async (t) => {
  const it = await cluster(t);
  let refuses = true;
  it.api.rule(({ method, path }) =>
    refuses && method === 'POST' && path.endsWith('/configmaps')
      ? refusal(403, { reason: 'Forbidden', message: 'not now' })
      : undefined,
  );
  await t.rejects(it.run(), { kind: 'retry', message: /not now/ });
  const text = await readFile(it.path, 'utf8');
  t.not(text, it.first);
  refuses = false;
  await it.run();
  t.equal(await readFile(it.path, 'utf8'), text, 'the next run only records it');
  t.match(it.api.get(RECORD), { data: { laptopCa: 'replaced' } });
});

t.test('a record of another kind is replaced', async (t) => {
  const it = await cluster(t);
  const metadata = { name: 'sno-administrators', namespace: 'kube-system' };
  it.api.set(RECORD, { metadata, data: { laptopCa: 'in use' } });
  await it.run();
  t.match(it.api.get(RECORD), { data: { laptopCa: 'replaced' } });
});

t.test('the file behind a link is replaced, with mode 0600', async (t) => {
  const it = await cluster(t);
  const link = `${it.path}-link`;
  await symlink(it.path, link);
  await it.run(link);
  t.not(await readFile(it.path, 'utf8'), it.first);
  t.equal((await stat(it.path)).mode & 0o777, 0o600);
  t.equal(await readFile(link, 'utf8'), await readFile(it.path, 'utf8'));
});

const CLIENTS = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
const STATUS = '/api/v1/namespaces/kube-system/configmaps/sno-installation';
const clients = (...authorities: readonly string[]) => ({
  metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
  data: { 'client-ca-file': authorities.join('') },
});

t.test('with it comes the authority by which the laptop knows backups of the host', async (t) => {
  const it = await cluster(t);
  await it.save();
  t.equal(existsSync(join(dirname(it.path), 'backup-signer.json')), false, 'not exchanged yet');
  t.same(it.said, []);
  await it.run();
  it.said.length = 0;
  const clusterId = '6f0c8f0e-3b1b-4b44-9f0d-0123456789ab';
  const status = { version: '1', state: 'complete', step: 'complete', clusterId };
  it.api.set(STATUS, {
    metadata: { name: 'sno-installation', namespace: 'kube-system' },
    data: { ...status, time: '2030-01-01T00:00:00.000Z' },
  });
  // Of a lost host, with the same name: it has not signed this administrator.
  const lost = await createAuthority('admin-ca');
  it.api.set(CLIENTS, clients(other.certificate, lost.certificate));
  const saving = it.save();
  while (it.said.length === 0) await new Promise((resolve) => setImmediate(resolve));
  t.match(it.said, [/Waiting for the authority of backups: it is not in ConfigMap/]);
  it.api.set(CLIENTS, clients(other.certificate, lost.certificate, signer.certificate));
  await saving;
  t.same(await it.saved(), { schemaVersion: 1, clusterId, certificate: signer.certificate });
  t.match(it.said.at(-1), /Wrote \S+backup-signer\.json/);
  it.said.length = 0;
  await it.save();
  t.same(it.said, [], 'again: nothing changes');
});

t.test('an API server that does not say it: nothing is written', async (t) => {
  const it = await cluster(t);
  await it.run();
  await t.rejects(it.save(), {
    kind: 'retry',
    message: /the installation is complete, and \S+backup-signer\.json was not written/,
  });
});
