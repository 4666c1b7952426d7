import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { chmod, symlink, truncate } from 'node:fs/promises';
import { createServer } from 'node:net';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { hostSecrets } from '../../../agents/gather/host-secrets/host-secrets.ts';
import { dataUrl } from '../../../lib/render/ignition/data-url.ts';
import { hostRoot } from './host-root.ts';

const secret = () => randomBytes(15).toString('hex');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const ecKey = () =>
  String(
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    }),
  );
/** Not a valid key: only its lines matter. */
function rsaKey(): string {
  const body = Buffer.concat([Buffer.from('308204a40201000282010100', 'hex'), randomBytes(1180)]);
  const lines = body.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN RSA PRIVATE KEY-----', ...lines, '-----END RSA PRIVATE KEY-----', ''].join(
    '\n',
  );
}
const bodyOf = (pem: string) => pem.split('\n').filter((line) => /^[A-Za-z0-9+/]{60,}/.test(line));
const jwt = () =>
  `${Buffer.from('{"alg":"RS256","kid":"1"}').toString('base64url')}.${randomBytes(40).toString('base64url')}.${randomBytes(64).toString('base64url')}`;

const signal = new AbortController().signal;
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
    await hostRoot(t, {
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

interface Reported {
  readonly secrets: string[];
  /** Reasons by path on the host. */
  readonly failed: Readonly<Record<string, string>>;
}

async function reported(t: Test, host: Awaited<ReturnType<typeof hostRoot>>): Promise<Reported> {
  const failed: [string, string][] = [];
  const secrets = await hostSecrets(host, signal, (path, reason) => {
    failed.push([host.paths.onHost(path), reason]);
  });
  t.equal(new Set(failed.map(([path]) => path)).size, failed.length, 'each is reported once');
  return { secrets, failed: Object.fromEntries(failed) };
}

t.test('links are not followed, and unreadable files are reported', async (t) => {
  const outside = secret();
  const here = await hostRoot(t, {
    '/elsewhere/x.yaml': `password: ${outside}\n`,
    '/elsewhere/.netrc': `machine h password ${outside}\n`,
    '/elsewhere/.aws/credentials': `aws_secret_access_key = ${outside}\n`,
    '/etc/kubernetes/large.yaml': 'password: hunter2hunter2\n',
    '/elsewhere/.config/git/credentials': `https://u:${outside}@h\n`,
    '/home/alice/.npmrc': '',
    '/var/lib/kubelet/config.json': '{"auths": torn',
  });
  const link = (target: string, path: string) =>
    symlink(here.paths.at(target), here.paths.at(path));
  await link('/elsewhere/x.yaml', '/etc/kubernetes/link.yaml');
  await link('/elsewhere', '/etc/kubernetes/folder');
  await link('/elsewhere/.netrc', '/home/alice/.netrc');
  await link('/elsewhere/.aws', '/home/alice/.aws');
  await link('/elsewhere', '/home/bob');
  await link('/elsewhere/.config', '/home/alice/.config');
  await truncate(here.paths.at('/etc/kubernetes/large.yaml'), 50 << 20);
  const { secrets, failed } = await reported(t, here);
  t.notOk(secrets.includes(outside));
  t.match(failed, { '/etc/kubernetes/large.yaml': /^52428800 bytes are too large/ });
  t.equal(Object.keys(failed).length, 1);
});

t.test('a home with two paths is read once', async (t) => {
  const word = secret();
  const large = '/var/home/core/.npmrc';
  const here = await hostRoot(t, { '/var/home/core/.vault-token': word, [large]: '' });
  await truncate(here.paths.at(large), 3 << 20);
  await symlink('var/home', here.paths.at('/home'));
  const { secrets, failed } = await reported(t, here);
  t.strictSame(secrets, [word]);
  t.strictSame(Object.keys(failed), [large]);
});

t.test('pipes, sockets and binary files are skipped', async (t) => {
  const word = secret();
  const here = await hostRoot(t, {
    '/root/.npmrc': `_authToken=${word}\n`,
    '/etc/sysconfig/binary': `password=${secret()}\0\x01\x02`,
    '/etc/wireguard/x': '',
    '/home/alice/x': '',
  });
  for (const path of ['/etc/wireguard/wg0.conf', '/root/.netrc', '/home/alice/.netrc']) {
    await execa('mkfifo', [here.paths.at(path)]);
  }
  const server = createServer().listen(here.paths.at('/home/alice/.pgpass'));
  t.teardown(() => server.close());
  await once(server, 'listening');
  t.strictSame(await reported(t, here), { secrets: [word], failed: {} });
});

t.test('the depth of folders is limited', async (t) => {
  const [near, far] = [secret(), secret()];
  const here = await hostRoot(t, {
    '/etc/sysconfig/a/near': `password=${near}\n`,
    [`/etc/sysconfig/${'d/'.repeat(100)}far`]: `password=${far}\n`,
  });
  t.strictSame((await reported(t, here)).secrets, [near]);
});

t.test('tokens and passwords come before keys, and every key is found by two lines', async (t) => {
  const tokens = Array.from({ length: 50 }, secret);
  const keys = Array.from({ length: 200 }, rsaKey);
  const { secrets, failed } = await reported(
    t,
    await hostRoot(t, {
      '/etc/sno-agents/keys.pem': keys.join(''),
      '/home/alice/.aws/credentials': tokens.map((value) => `x_token = ${value}\n`).join(''),
    }),
  );
  t.strictSame(failed, {}, 'the limit is not reached by 5000 lines');
  t.equal(secrets.length, 4000);
  t.strictSame(secrets.slice(0, tokens.length), tokens);
  const next = new Set(secrets.slice(tokens.length, tokens.length + 2 * keys.length));
  for (const key of keys) {
    const lines = bodyOf(key);
    const [first = '', last = ''] = [lines.at(0), lines.at(-1)];
    t.equal(lines.filter((line) => next.has(line)).length, 2);
    t.notOk(next.has(first), 'its beginning is public');
    t.notOk(next.has(last));
  }
});

t.test('all lines of a few keys are found', async (t) => {
  const key = rsaKey();
  const { secrets } = await reported(t, await hostRoot(t, { '/etc/kubernetes/pki/a.key': key }));
  for (const line of bodyOf(key)) t.ok(secrets.includes(line), line);
});

t.test('too many secrets are reported once', async (t) => {
  const token = secret();
  const flood = Array.from({ length: 4000 }, () => `password=${secret()}\n`).join('');
  const files = { '/root/.vault-token': token, '/home/alice/.aws/credentials': flood };
  const { secrets, failed } = await reported(t, await hostRoot(t, files));
  t.equal(secrets.length, 1 + 1024, 'what one may have');
  t.equal(secrets[0], token, 'homes come last');
  t.match(failed, { 'this host': /more than 4000, .* in \/home\/alice/ });
  t.equal(Object.keys(failed).length, 1);
});

const isRoot = process.getuid?.() === 0;
t.test('unreadable files are reported', { skip: isRoot && 'root reads all files' }, async (t) => {
  const here = await hostRoot(t, { '/etc/environment': 'x', '/etc/default/y': 'z' });
  await chmod(here.paths.at('/etc/environment'), 0);
  await chmod(here.paths.at('/etc/default'), 0);
  const { failed } = await reported(t, here);
  await chmod(here.paths.at('/etc/default'), 0o700);
  t.match(failed, { '/etc/environment': /EACCES/, '/etc/default': /EACCES/ });
});

t.test('many failures are counted', async (t) => {
  const paths = Array.from({ length: 60 }, (_, index) => `/etc/sysconfig/${100 + index}`);
  const here = await hostRoot(t, Object.fromEntries(paths.map((path) => [path, ''])));
  for (const path of paths) await truncate(here.paths.at(path), 3 << 20);
  const { failed } = await reported(t, here);
  t.match(failed, { 'other files': /^10 more/ });
  t.equal(Object.keys(failed).length, 51);
});

t.test('the bytes of all files are limited', async (t) => {
  const paths = Array.from({ length: 65 }, (_, index) => `/etc/sysconfig/${100 + index}`);
  const [before, after] = [secret(), secret()];
  const here = await hostRoot(t, {
    ...Object.fromEntries(paths.map((path) => [path, ''])),
    '/etc/environment': `A_PASSWORD=${before}\n`,
    '/home/alice/.vault-token': after,
  });
  for (const path of paths) await truncate(here.paths.at(path), 2 << 20);
  const { secrets, failed } = await reported(t, here);
  t.strictSame(secrets, [before]);
  t.match(Object.values(failed), [/^not all files .* more than 134217728 bytes$/]);
});

t.test('the entries of a folder are limited', async (t) => {
  const here = await hostRoot(t, { '/home/alice/.ssh/0': '' });
  for (let index = 1; index <= 2000; index++) {
    mkdirSync(here.paths.at(`/home/alice/.ssh/${index}`));
  }
  const { failed } = await reported(t, here);
  t.match(failed, { '/home/alice/.ssh': /only 2000 of its entries/ });
});

t.test('an empty host has no secrets', async (t) => {
  t.strictSame(await reported(t, await hostRoot(t, {})), { secrets: [], failed: {} });
});

t.test('after an abort, the secrets found so far are returned', async (t) => {
  const [first, last] = [secret(), secret()];
  const here = await hostRoot(t, {
    '/etc/environment': `FIRST_PASSWORD=${first}\n`,
    '/etc/sysconfig/large': '',
    '/root/.vault-token': last,
  });
  await truncate(here.paths.at('/etc/sysconfig/large'), 3 << 20);
  const stop = new AbortController();
  const failed: string[] = [];
  const secrets = await hostSecrets(here, stop.signal, (path, reason) => {
    failed.push(`${here.paths.onHost(path)}: ${reason}`);
    stop.abort(new Error('enough'));
  });
  t.strictSame(secrets, [first]);
  t.equal(failed.length, 2);
  t.match(failed[1], /^\/.*: not all files were searched for secrets: enough$/);
});

t.test('a pod with many secrets costs the others nothing', async (t) => {
  const podFolder = (uid: string) =>
    `/var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~secret/credentials`;
  const containers = '/run/containerd/io.containerd.runtime.v2.task/k8s.io';
  const flood = Array.from({ length: 9000 }, () => `password=${secret()}${secret()}\n`).join('');
  t.ok(flood.length > 550 << 10);
  const env = (uid: string, values: readonly string[]) =>
    JSON.stringify({
      process: { env: values.map((value, at) => `A${at}_DB_PASSWORD=${value}`) },
      annotations: { 'io.kubernetes.cri.sandbox-uid': uid },
    });
  const floodOfEnv = Array.from({ length: 9000 }, () => secret() + secret());
  for (const [first, last] of [
    ['0-flood', '1-other'],
    ['1-flood', '0-other'],
  ] as const) {
    const mounted = secret();
    const inEnv = secret();
    const home = secret();
    const failed: Record<string, string> = {};
    const secrets = await hostSecrets(
      await hostRoot(t, {
        [`${podFolder(first)}/a.conf`]: flood,
        [`${podFolder(first)}/b.conf`]: flood.replaceAll('password=', 'password=x'),
        [`${containers}/${first}/config.json`]: env(first, floodOfEnv),
        [`${podFolder(last)}/token`]: mounted,
        [`${containers}/${last}/config.json`]: env(last, [inEnv]),
        '/home/alice/.netrc': `machine a login b password ${home}\n`,
      }),
      // However long it takes.
      new AbortController().signal,
      (path, reason) => {
        failed[path] = reason;
      },
    );
    for (const [name, value] of Object.entries({ mounted, inEnv, home })) {
      t.ok(secrets.includes(value), `${name}, flood in ${first}`);
    }
    t.match(failed, { 'this host': new RegExp(`most of them in pod ${first};`) });
  }
});
