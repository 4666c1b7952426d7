import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import { hostSecrets } from '../../../agents/gather/host-secrets.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { dataUrl } from '../../../lib/ignition/data-url.ts';

const secret = () => randomBytes(15).toString('hex');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const ecKey = () =>
  String(
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    }),
  );
const bodyOf = (pem: string) => pem.split('\n').filter((line) => /^[A-Za-z0-9+/]{60,}/.test(line));
const jwt = () =>
  `${Buffer.from('{"alg":"RS256","kid":"1"}').toString('base64url')}.${randomBytes(40).toString('base64url')}.${randomBytes(64).toString('base64url')}`;

async function host(
  t: { teardown(act: () => Promise<void>): void },
  files: Record<string, string>,
) {
  const root = await mkdtemp(join(tmpdir(), 'host-secrets-'));
  t.teardown(() => rm(root, { recursive: true }));
  for (const [path, contents] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), contents, { mode: 0o600 });
  }
  return { paths: hostPaths(root) };
}

const signal = AbortSignal.timeout(60_000);
const pods = '/var/lib/kubelet/pods/6b6bdc57-35d7-4a39-8c8f-6ac5a6cf0f6a/volumes';

t.test('the secrets of a host', async (t) => {
  const registry = secret();
  const keys = [ecKey(), ecKey(), ecKey(), ecKey(), ecKey()];
  const [ca = '', client = '', kubelet = '', ignited = '', mounted = ''] = keys;
  const words = Object.fromEntries(
    [
      'proxy',
      'wifi',
      'encryption',
      'mounted',
      'network',
      'unit',
      'nested',
      'manifest',
      'mirror',
    ].map((name) => [name, secret()]),
  );
  const tokens = { bootstrap: `abc123.${secret().slice(0, 16)}`, mounted: jwt(), legacy: secret() };
  const hash = `$6$salt$${secret()}${secret()}`;
  const auth = base64(`user:${registry}`);
  const found = await hostSecrets(
    await host(t, {
      '/var/lib/kubelet/config.json': JSON.stringify({ auths: { 'quay.io': { auth } } }),
      '/etc/kubernetes/pki/ca.key': ca,
      '/etc/kubernetes/kubeconfig': `users:\n- user:\n    client-key-data: ${base64(client)}\n`,
      '/etc/kubernetes/bootstrap-kubelet.conf': `users:\n- user:\n    token: ${tokens.bootstrap}\n`,
      '/etc/kubernetes/static-pod-resources/kube-apiserver/secrets/session/value':
        words.mounted ?? '',
      '/etc/kubernetes/config/encryption.yaml': `resources:\n- providers:\n  - aescbc:\n      keys:\n      - name: key1\n        secret: ${base64(words.encryption ?? '')}\n`,
      '/var/lib/kubelet/pki/kubelet.key': kubelet,
      '/etc/sno-agents/cluster.json': JSON.stringify({
        proxy: { httpProxy: `http://user:${words.proxy}@proxy:3128` },
        networkConfig: `interfaces:\n- name: eno1\n  802.1x:\n    password: ${words.network}\n`,
      }),
      '/etc/NetworkManager/system-connections/wifi.nmconnection': `[wifi-security]\npsk=${words.wifi}\n`,
      '/etc/systemd/system/app.service.d/10.conf': `[Service]\nEnvironment=API_TOKEN=${words.unit}\n`,
      '/etc/containerd/certs.d/r/hosts.toml': `[host."https://r".header]\n  Authorization = "Bearer ${words.mirror}"\n`,
      '/etc/shadow': `root:*:1:\ncore:${hash}:19000:0:99999:7:::\n`,
      '/opt/openshift/manifests/secret.yaml': `kind: Secret\nmetadata: {name: x}\ndata:\n  password: ${base64(words.manifest ?? '')}\n  namespace: ${base64('openshift-etcd')}\n`,
      '/opt/openshift/master.ign': JSON.stringify({
        storage: {
          files: [
            { path: '/a', contents: dataUrl(`nested_password = "${words.nested}"\n`) },
            { path: '/b', contents: dataUrl(ignited.repeat(20)) },
            { path: '/etc/hostname', contents: dataUrl('sno-0.example.com\n') },
          ],
        },
      }),
      [`${pods}/kubernetes.io~projected/kube-api-access-x/..2026_1/token`]: tokens.mounted,
      [`${pods}/kubernetes.io~projected/kube-api-access-x/..2026_1/namespace`]: 'openshift-etcd',
      [`${pods}/kubernetes.io~secret/creds/..2026_1/token`]: `${tokens.legacy}\n`,
      [`${pods}/kubernetes.io~secret/creds/..2026_1/tls.key`]: mounted,
      [`${pods}/kubernetes.io~empty-dir/x/y`]: `password=${secret()}`,
    }),
    signal,
  );
  for (const value of [
    registry,
    auth,
    hash,
    ...Object.values(tokens),
    ...Object.entries(words).map(([name, word]) => (name === 'encryption' ? base64(word) : word)),
    ...keys.flatMap(bodyOf),
  ]) {
    t.ok(found.includes(value), value);
  }
  for (const ordinary of ['openshift-etcd', 'sno-0.example.com', 'user']) {
    t.notOk(found.includes(ordinary), ordinary);
  }
});

t.test('links are not followed, and unreadable files are reported', async (t) => {
  const outside = secret();
  const here = await host(t, {
    '/elsewhere/x.yaml': `password: ${outside}\n`,
    '/etc/kubernetes/large.yaml': 'password: hunter2hunter2\n',
    '/var/lib/kubelet/config.json': '{"auths": torn',
  });
  await symlink(here.paths.at('/elsewhere/x.yaml'), here.paths.at('/etc/kubernetes/link.yaml'));
  await symlink(here.paths.at('/elsewhere'), here.paths.at('/etc/kubernetes/folder'));
  await truncate(here.paths.at('/etc/kubernetes/large.yaml'), 50 << 20);
  const failed: string[] = [];
  const found = await hostSecrets(here, signal, (path) => failed.push(path));
  t.notOk(found.includes(outside));
  t.strictSame(failed, [here.paths.at('/etc/kubernetes/large.yaml')]);
});

t.test('an empty host has no secrets', async (t) => {
  t.strictSame(await hostSecrets(await host(t, {}), signal), []);
});

t.test('it stops when it is told to', async (t) => {
  const here = await host(t, { '/var/lib/kubelet/config.json': '{}' });
  await t.rejects(hostSecrets(here, AbortSignal.abort(new Error('enough'))), /enough/);
});
