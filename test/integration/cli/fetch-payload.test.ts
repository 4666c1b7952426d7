import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { readLock } from '../../../cli/payload/fetch/lock.ts';
import { logins } from '../../../lab/servers/upstream/registry.ts';
import { readPayload } from '../../../lib/payload/payload.ts';
import { push } from './upstream/images.ts';
import { cutting, proxyTo } from './upstream/relays.ts';
import { KUBERNETES, startUpstream, type Upstream } from './upstream/upstream.ts';

const folder = t.testdir();
let upstream: Upstream;
t.before(async () => {
  upstream = await startUpstream(join(folder, 'upstream'), AbortSignal.timeout(25 * 60_000));
});
t.teardown(() => upstream.close());

let number = 0;
/** A new folder for a payload and what is beside it. */
function place(mirrors = upstream.mirrors) {
  number += 1;
  const beside = join(folder, `run-${number}`);
  mkdirSync(beside);
  const dir = join(beside, 'payload');
  return { beside, dir, create: ['create', 'payload', '--dir', dir, ...mirrors] };
}
const version = ['--kubernetes', KUBERNETES];
const described = (dir: string) => readFileSync(join(dir, 'payload.yaml'), 'utf8');
const siteFile = (name: string) =>
  [...upstream.site.files.keys()].find((path) => path.endsWith(name)) ?? name;
const KUBELET = 'amd64/kubelet';

/** The lock and the description of a payload that all tests can have again. */
let whole: { lock: string; description: string; parts: string };

t.test('a payload of a version, with what it was made of', async (t) => {
  const { beside, dir, create } = place();
  const parts = join(folder, 'parts');
  const made = await upstream.run([...create, ...version, '--arch', 'amd64', '--parts', parts]);
  t.match(made, { code: 0 }, made.err);
  t.strictSame(readdirSync(beside), ['payload', 'payload.lock.yaml'], 'nothing else is left');
  whole = { lock: `${dir}.lock.yaml`, description: described(dir), parts };
  t.match(made.err, /kubelet is there: .* of 12 parts/);
  const payload = await readPayload(dir);
  t.strictSame(payload.versions, { kubernetes: 'v1.37.2', etcd: 'v3.7.0' });
  t.match(
    payload.images.map(({ name, reference, id }) => ({ name, reference, id })),
    Array.from(upstream.images, ([name, { id }]) => ({ name, id })),
    'the images have the ids that they have everywhere',
  );
  t.match(
    payload.images.find(({ name }) => name === 'flannel'),
    { reference: 'docker.io/flannel/flannel:v0.28.10' },
    'and their original references',
  );
  t.strictSame(
    payload.binaries.map(({ name }) => name),
    ['etcdutl', 'kubelet', 'bridge', 'host-local', 'loopback', 'portmap'],
  );
  const verified = await upstream.run(['verify', 'payload', dir]);
  t.match(verified, { code: 0 }, verified.err);
  const lock = await readLock(join(beside, 'payload.lock.yaml'));
  t.match(
    lock.images.map(({ name, digest }) => ({ name, digest })),
    Array.from(upstream.images, ([name, { digest }]) => ({ name, digest })),
  );
});

t.test('what is there already is not fetched again', async (t) => {
  const { dir, create } = place();
  upstream.registry.asked();
  upstream.site.asked();
  const parts = ['--parts', whole.parts];
  const made = await upstream.run([...create, '--kubernetes', 'stable-1.37', ...parts]);
  t.match(made, { code: 0 }, made.err);
  t.equal(described(dir), whole.description, 'the same bytes');
  t.equal(readFileSync(`${dir}.lock.yaml`, 'utf8'), readFileSync(whole.lock, 'utf8'));
  t.strictSame(
    upstream.registry.asked().filter((path) => path.includes('/blobs/')),
    [],
  );
  t.strictSame(
    upstream.site.asked().filter((path) => !/(\.sha256|SHA256SUMS|\.txt)$/.test(path)),
    [],
  );
});

t.test('with a lock and all parts, nobody is asked', async (t) => {
  const { beside, dir, create } = place([]);
  const none = ['--registry', '127.0.0.1:1', '--downloads', 'https://127.0.0.1:1'];
  const args = [...create, ...none, '--lock', whole.lock, '--parts', whole.parts];
  const made = await upstream.run(args);
  t.match(made, { code: 0 }, made.err);
  t.equal(described(dir), whole.description);
  t.strictSame(readdirSync(beside), ['payload'], 'the lock is the one that was given');
});

t.test('with a lock, nothing else is accepted', async (t) => {
  const { registry, site, authority } = upstream;
  const tag = `${registry.address}/registry.k8s.io/pause:3.10.2`;
  const before = readFileSync(whole.lock, 'utf8');
  await push(tag, upstream.logins, authority);
  const moved = place();
  const fresh = await upstream.run([...moved.create, '--lock', whole.lock]);
  t.match(fresh, { code: 0 }, fresh.err);
  t.equal(described(moved.dir), whole.description, 'a tag that has moved makes no difference');

  const path = siteFile(KUBELET);
  const kubelet = site.files.get(path) ?? Buffer.alloc(0);
  site.files.set(
    path,
    Buffer.from(kubelet.toString('latin1').replace('kubelet', 'KUBELET'), 'latin1'),
  );
  const changed = place();
  const refused = await upstream.run([...changed.create, '--lock', whole.lock]);
  site.files.set(path, kubelet);
  t.match(refused, {
    code: 2,
    err: /kubelet is not the file that its SHA-256 says; .*expected SHA-256 [0-9a-f]{64}; found/,
  });
  t.notOk(existsSync(changed.dir));

  const pause = upstream.images.get('pause')?.digest ?? '';
  const unknown = join(folder, 'unknown.lock.yaml');
  writeFileSync(unknown, before.replace(pause, `sha256:${'0'.repeat(64)}`));
  const gone = await upstream.run([...place().create, '--lock', unknown]);
  t.match(gone, { code: 2, err: /pause@sha256:0{64} cannot be fetched; .*a registry that has it/ });
});

t.test('a lock that does not fit is refused before anything is fetched', async (t) => {
  const text = readFileSync(whole.lock, 'utf8');
  const changes: readonly (readonly [
    args: string[],
    change: (text: string) => string,
    err: RegExp,
  ])[] = [
    [['--arch', 'arm64'], (text) => text, /for the architecture amd64, asked for is arm64/],
    [['--kubernetes', 'v1.37.1'], (text) => text, /for Kubernetes v1.37.2, asked for is v1.37.1/],
    [['--kubernetes', 'stable-1.36'], (text) => text, /for Kubernetes v1.37.2, asked for is 1.36/],
    [['--without', 'flannel'], (text) => text, /it also has flannel, which is left out/],
    [[], (text) => text.replace(/ {2}- name: pause\n(?: {4}.*\n)+/, ''), /it has no pause/],
    [[], (text) => text.replace('PayloadLock', 'Payload'), /kind: .*PayloadLock/],
    [[], (text) => text.replace('https://dl', 'http://dl'), /downloads\[\d\]\.url/],
    [[], (text) => `${text}further: 1\n`, /further/],
    [[], () => '[', /is not a payload.lock.yaml/],
  ];
  upstream.registry.asked();
  upstream.site.asked();
  for (const [args, change, err] of changes) {
    const { beside, create } = place();
    const lock = join(folder, 'other.lock.yaml');
    writeFileSync(lock, change(text));
    t.match(await upstream.run([...create, '--lock', lock, ...args]), { code: 2, err });
    t.strictSame(readdirSync(beside), []);
  }
  t.strictSame([...upstream.registry.asked(), ...upstream.site.asked()], []);
});

t.test('connections that are cut are taken up again', async (t) => {
  const registry = await cutting(upstream.registry.port, 100_000, 4);
  const site = await cutting(upstream.site.port, 150_000);
  t.teardown(() => {
    registry.close();
    site.close();
  });
  const address = `127.0.0.1:${registry.port}`;
  const mirrors = ['--registry', address, '--downloads', `https://127.0.0.1:${site.port}`];
  const auth = logins(join(folder, 'relay.json'), [address]);
  const { dir, create } = place([...mirrors, '--pull-secret', auth]);
  upstream.site.asked();
  const made = await upstream.run([...create, '--lock', whole.lock]);
  t.match(made, { code: 0 }, made.err);
  t.equal(described(dir), whole.description);
  t.equal(registry.cuts(), 4);
  const kubelet = upstream.site.asked().filter((path) => path.includes(KUBELET));
  t.ok(kubelet.length > 2, `${kubelet.length} requests`);
  t.ok(
    kubelet.slice(1).every((path) => path.includes(' bytes=')),
    'each goes on where the last one ended',
  );
});

t.test('a run that failed is gone on with', async (t) => {
  const path = siteFile(KUBELET);
  const kubelet = upstream.site.files.get(path) ?? Buffer.alloc(0);
  upstream.site.files.delete(path);
  const { beside, dir, create } = place();
  const failed = await upstream.run([...create, ...version]);
  upstream.site.files.set(path, kubelet);
  t.match(failed, {
    code: 2,
    err: /amd64\/kubelet cannot be downloaded; .*404.*Check the version/,
  });
  t.match(failed.err, `is kept in ${dir}.parts`);
  t.strictSame(readdirSync(beside), ['payload.parts']);
  const made = await upstream.run([...create, ...version]);
  t.match(made, { code: 0 }, made.err);
  t.strictSame(readdirSync(beside), ['payload', 'payload.lock.yaml']);
});

t.test('a wrong checksum of a site is refused', async (t) => {
  const path = siteFile(`${KUBELET}.sha256`);
  const sum = upstream.site.files.get(path) ?? Buffer.alloc(0);
  upstream.site.files.set(path, Buffer.from('0'.repeat(64)));
  const { dir, create } = place();
  const refused = await upstream.run([...create, ...version]);
  upstream.site.files.set(path, Buffer.from('<html>'));
  const page = await upstream.run([...place().create, ...version]);
  upstream.site.files.set(path, sum);
  t.match(refused, { code: 2, err: /kubelet is not the file.*expected SHA-256 0{64}/ });
  t.notOk(existsSync(dir));
  t.match(page, { code: 2, err: /kubelet\.sha256 has no SHA-256 of kubelet/ });
});

t.test('the original addresses, through a proxy', async (t) => {
  const { registry, site } = upstream;
  for (const name of ['registry.k8s.io', 'docker.io']) {
    for (const { reference } of (await readLock(whole.lock)).images) {
      if (!reference.startsWith(`${name}/`)) continue;
      const to = `docker://${registry.address}${reference.slice(name.length)}`;
      const from = `docker://${registry.address}/${reference}`;
      const all = ['copy', '-q', '--all', '--authfile', upstream.logins];
      const env = { ...process.env, SSL_CERT_FILE: upstream.authority };
      await execa('skopeo', [...all, from, to], { env, timeout: 60_000 });
    }
  }
  const proxy = await proxyTo((host) => (/registry/.test(host) ? registry.port : site.port));
  t.teardown(() => proxy.close());
  const auth = logins(join(folder, 'original.json'), ['registry.k8s.io', 'docker.io']);
  const { dir, create } = place(['--pull-secret', auth]);
  const environment = { HTTPS_PROXY: proxy.url };
  const made = await upstream.run([...create, ...version, '--without', 'pause'], environment);
  t.match(made, { code: 2, err: /--without pause: expected kube-proxy/ });
  const right = await upstream.run([...create, ...version, '--without', 'flannel'], environment);
  t.match(right, { code: 0 }, right.err);
  t.equal((await readPayload(dir)).images.length, 8);
  t.strictSame([...new Set(proxy.asked())].toSorted(), [
    'dl.k8s.io',
    'github.com',
    'registry-1.docker.io',
    'registry.k8s.io',
  ]);
});

t.test('a login or a trust that is missing is named', async (t) => {
  const { registry, site } = upstream;
  const mirrors = ['--registry', registry.address, '--downloads', `https://127.0.0.1:${site.port}`];
  const nobody = join(folder, 'nobody.json');
  writeFileSync(nobody, '{}');
  const anonymous = place([...mirrors, '--pull-secret', nobody]);
  const fix = new RegExp(`skopeo login ${registry.address}`);
  t.match(await upstream.run([...anonymous.create, ...version]), { code: 2, err: fix });
  t.strictSame(readdirSync(anonymous.beside), []);
  const others = { SSL_CERT_FILE: '/etc/ssl/certs/ca-certificates.crt' };
  const stranger = await upstream.run([...place().create, ...version], others);
  t.match(stranger, { code: 2, err: /SSL_CERT_FILE/ });
  const without = await upstream.run([...place().create, ...version], { PATH: '/nowhere' });
  t.match(without, {
    code: 2,
    err: /skopeo, which is not installed here.*Install the package skopeo/,
  });
});

t.test('a full disk is named', async (t) => {
  for (const [size, where] of [
    ['1500k', /payload\.parts (is full|has not enough space); no payload was written/],
    ['5m', /(payload\.parts|disk) is full; no payload was written/],
  ] as const) {
    const disk = join(folder, `disk-${size}`);
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'fetch-test', disk]);
    try {
      const dir = join(disk, 'payload');
      const create = ['create', 'payload', '--dir', dir, ...upstream.mirrors];
      const full = await upstream.run([...create, '--lock', whole.lock]);
      t.match(full, { code: 2, err: where });
      t.match(full.err, /expected at least \d+ bytes|\d+ bytes free/);
      t.strictSame(readdirSync(disk), ['payload.parts'], 'no payload');
    } finally {
      execFileSync('umount', [disk]);
    }
  }
});

t.test('options that contradict each other', async (t) => {
  const { beside, dir, create } = place();
  const bare = ['create', 'payload', '--dir', dir];
  mkdirSync(`${dir}.parts`);
  writeFileSync(join(`${dir}.parts`, 'mine'), '');
  const cases: readonly (readonly [args: string[], err: RegExp])[] = [
    [[...create, ...version, '--image', 'etcd=x'], /--image: not with --kubernetes or --lock/],
    [[...bare, '--arch', 'amd64'], /--arch: only with --kubernetes/],
    [[...create, '--kubernetes', '1.37'], /write stable-1\.37/],
    [[...create, '--kubernetes', 'v1.20.1'], /older than 1\.34/],
    [[...create, ...version, '--arch', 'x86_64'], /Did you mean amd64/],
    [[...bare, ...version, '--downloads', 'http://127.0.0.1:1'], /Use https:\/\/, or also --lock/],
    [[...bare, ...version, '--downloads', 'https://me:hidden@x'], /^(?!.*hidden).*of x: a user/s],
    [[...bare, ...version, '--registry', 'https://x'], /expected HOST/],
    [
      [...create, '--lock', whole.lock],
      /payload\.parts is not a folder of fetched parts; found mine/,
    ],
  ];
  for (const [args, err] of cases) t.match(await upstream.run(args), { code: 2, err });
  t.strictSame(readdirSync(beside), ['payload.parts']);
  t.equal(statSync(join(`${dir}.parts`, 'mine')).size, 0);
});
