/** A payload that is served compressed, fetched by the real curl. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import fsp from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { sha256 } from '../../../lib/host/files.ts';
import { fetchPayload } from '../../../lib/payload/fetch.ts';
import { captureBuiltins } from '../../unit/host/builtins.ts';
import { compressPayloadIn } from '../../unit/payload/compressed.ts';
import { type Answer, fileOf, half, openSite } from '../../unit/payload/site.ts';
import { description, FILES } from './bringing-host.ts';

const options = { signal: AbortSignal.timeout(50_000), deadlineMs: 20_000 };
const PATHS = Object.keys(FILES);

/** A site with the compressed files alone, a host's folder, and what fetches from one to the other. */
async function setUp(t: Test, change: (served: string) => void = () => {}) {
  const at = t.testdir();
  const served = join(at, 'served');
  for (const [name, text] of Object.entries({ ...FILES, 'payload.yaml': description() })) {
    mkdirSync(dirname(join(served, name)), { recursive: true });
    writeFileSync(join(served, name), text);
  }
  compressPayloadIn(served);
  change(served);
  const names = ['payload.yaml', ...PATHS.map((path) => `${path}.zst`)];
  const answers: Record<string, Answer> = Object.fromEntries(
    names.map((name) => [`/p/${name}`, fileOf(readFileSync(join(served, name)))]),
  );
  const site = await openSite(answers);
  t.teardown(() => site.close());
  const folder = join(at, 'payload');
  const pinned = sha256(readFileSync(join(served, 'payload.yaml')));
  const fetch = () => fetchPayload({ url: `${site.url}/p`, sha256: pinned }, folder, options);
  const sizeOf = (path: string) => readFileSync(join(served, `${path}.zst`)).length;
  return { ...site, answers, served, folder, fetch, sizeOf };
}

/** Changes the description of the served payload. */
function edit(served: string, change: (kubelet: { size: number; zstd: object }) => void) {
  const path = join(served, 'payload.yaml');
  const it = JSON.parse(readFileSync(path, 'utf8'));
  change(it.binaries[0]);
  writeFileSync(path, JSON.stringify(it));
}

const names = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();

t.test('the compressed files are fetched, and nothing but the files is left', async (t) => {
  const { folder, fetch, asked } = await setUp(t);
  await fetch();
  t.same(names(folder), [...PATHS, 'payload.yaml'].toSorted());
  for (const [path, text] of Object.entries(FILES)) {
    t.equal(readFileSync(join(folder, path), 'utf8'), text, path);
  }
  t.same(
    asked.filter((request) => !/\.zst$|payload\.yaml$/.test(request)),
    [],
    'no uncompressed file is asked for',
  );
  asked.length = 0;
  await fetch();
  t.same(asked, [], 'a complete folder asks for nothing');
});

t.test('an attempt that was cut or killed goes on', async (t) => {
  const { folder, fetch, asked, served } = await setUp(t);
  for (const name of ['bin', 'cni']) mkdirSync(join(folder, name), { recursive: true });
  // One is complete, one was killed while it was decompressed, and of one a few bytes have arrived.
  writeFileSync(join(folder, 'bin/kubelet'), FILES['bin/kubelet']);
  const bridge = readFileSync(join(served, 'cni/bridge.zst'));
  writeFileSync(join(folder, 'cni/.bridge.zst.part'), bridge);
  writeFileSync(join(folder, 'cni/.bridge.new'), 'brid');
  mkdirSync(join(folder, 'images'));
  const etcd = readFileSync(join(served, 'images/etcd.tar.zst'));
  writeFileSync(join(folder, 'images/.etcd.tar.zst.part'), etcd.subarray(0, 5));
  await fetch();
  t.same(names(folder), [...PATHS, 'payload.yaml'].toSorted());
  t.equal(readFileSync(join(folder, 'cni/bridge'), 'utf8'), FILES['cni/bridge']);
  t.notOk(asked.some((request) => request.includes('kubelet')));
  t.ok(asked.includes('GET /p/images/etcd.tar.zst bytes=5-'), 'the rest is fetched');
});

t.test('a connection that breaks is retried', async (t) => {
  const { folder, fetch, answers, served } = await setUp(t);
  const path = '/p/images/etcd.tar.zst';
  const whole = answers[path];
  answers[path] = half(readFileSync(join(served, 'images/etcd.tar.zst')));
  await t.rejects(fetch(), { kind: 'retry', message: /etcd\.tar\.zst cannot be downloaded/ });
  t.notOk(existsSync(join(folder, 'payload.yaml')));
  if (whole !== undefined) answers[path] = whole;
  await fetch();
  t.equal(readFileSync(join(folder, 'images/etcd.tar'), 'utf8'), FILES['images/etcd.tar']);
});

t.test('another file than the described one is refused by its name', async (t) => {
  const { folder, fetch } = await setUp(t, (served) =>
    writeFileSync(join(served, 'bin/kubelet.zst'), zstdCompressSync('kubelet 2')),
  );
  await t.rejects(fetch(), {
    kind: 'fatal',
    code: 'payload-mismatch',
    message: /p\/bin\/kubelet\.zst is not the file that/,
  });
  t.notOk(existsSync(join(folder, 'bin/kubelet')));
});

t.test('one that expands to more than is described is refused', async (t) => {
  const { folder, fetch } = await setUp(t, (served) => {
    const bomb = zstdCompressSync(Buffer.alloc(64 << 20));
    writeFileSync(join(served, 'bin/kubelet.zst'), bomb);
    edit(served, (kubelet) => {
      kubelet.zstd = { size: bomb.length, sha256: sha256(bomb) };
    });
  });
  await t.rejects(fetch(), {
    kind: 'fatal',
    code: 'payload-damaged',
    message: /p\/bin\/kubelet\.zst is damaged; found bin\/kubelet: more than the 9 bytes/,
  });
  t.notOk(names(folder).some((name) => /kubelet(\.new)?$/.test(name)));
});

t.test('there has to be room for both forms', async (t) => {
  const { folder, fetch, sizeOf } = await setUp(t);
  const { statfs } = fsp;
  let bavail = 0;
  captureBuiltins(t, () => {
    t.capture(fsp, 'statfs', async (path: string) =>
      Object.assign(await statfs(path), { bsize: 1, bavail }),
    );
  });
  const plain = Object.values(FILES).join('').length;
  const needed = PATHS.reduce((sum, path) => sum + sizeOf(path), plain);
  bavail = 128 * 1024 * 1024 + needed - 1;
  await t.rejects(fetch(), { code: 'disk-full', message: new RegExp(`expected ${needed} bytes`) });
  bavail += 1;
  await fetch();
  t.ok(existsSync(join(folder, 'payload.yaml')));
});
