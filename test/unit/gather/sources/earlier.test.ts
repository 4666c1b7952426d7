import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { type Header, pack } from 'tar-stream';
import { earlier, phaseOf } from '../../../../agents/gather/sources/earlier.ts';
import { unpack } from '../../../../agents/gather/sources/unpack.ts';
import { nameInBundle } from '../../../../report/archive/names.ts';
import { hostAt, listed, soon, textOf } from './host.ts';

type Entry = Partial<Header> & { readonly name: string; readonly text?: string };

async function archiveOf(entries: readonly Entry[]): Promise<Buffer> {
  const archive = pack();
  for (const { text = '', ...header } of entries) archive.entry(header, text);
  archive.finalize();
  return gzipSync(await buffer(archive));
}

/** An installed host with this earlier bundle. */
async function hostWith(root: string, bundle: Uint8Array) {
  await mkdir(join(root, 'var/log'), { recursive: true });
  await writeFile(join(root, 'var/log/log-bundle-bootstrap.tar.gz'), bundle);
  return hostAt(root, root);
}

const top = 'log-bundle-bootstrap';

t.test('the earlier bundle becomes part of this one, without its first folder', async (t) => {
  const journal = 'a line of the live stage\n';
  const bundle = await archiveOf([
    { name: `${top}/`, type: 'directory' },
    { name: `${top}/report.html`, text: '<html>' },
    { name: `${top}/gather.log`, text: 'log' },
    { name: `${top}/bootstrap/steps/bootkube.jsonl`, text: '{}' },
    { name: `./${top}/unit-status/dev-x\\x2dy.device.txt`, text: 'x' },
    { name: `${top}/bootstrap/journals/kubelet.log`, text: journal },
  ]);
  const host = await hostWith(t.testdir({}), bundle);
  const sources = await listed(earlier, host);
  t.strictSame(
    [...sources.values()].map(({ path, phase, format }) => [path, phase, format]),
    [
      [`${top}/gather.log`, 'bulk', 'text'],
      [`${top}/bootstrap/steps/bootkube.jsonl`, 'diagnosis', 'json'],
      [`${top}/unit-status/dev-x\\x2dy.device.txt`, 'bulk', 'text'],
      [`${top}/bootstrap/journals/kubelet.log`, 'diagnosis', 'text'],
    ],
  );
  const kubelet = sources.get(`${top}/bootstrap/journals/kubelet.log`);
  if (kubelet !== undefined) t.equal(await textOf(kubelet, host), journal);
});

t.test('compressed files in it are read as text and compressed again', async (t) => {
  const archive = pack();
  archive.entry({ name: `${top}/bootstrap/journals/journal.log.gz` }, gzipSync('whole journal'));
  archive.finalize();
  const host = await hostWith(t.testdir({}), gzipSync(await buffer(archive)));
  const [source] = (await listed(earlier, host)).values();
  t.match(source, { phase: 'bulk', gzipped: true, format: 'text' });
  if (source !== undefined) t.equal(await textOf(source, host), 'whole journal');
});

t.test('a host without one has none', async (t) => {
  const root = t.testdir({});
  t.equal((await listed(earlier, hostAt(root, root))).size, 0);
});

t.test('hostile entries are left out and reported', async (t) => {
  const good = { name: `${top}/good.txt`, text: 'good' };
  const cases: [name: string, entry: Entry][] = [
    ['upwards', { name: `${top}/../../etc/cron.d/x` }],
    ['upwards at the beginning', { name: '../x/y' }],
    ['absolute', { name: '/etc/cron.d/x' }],
    ['no folder', { name: 'alone.txt' }],
    ['a line break', { name: `${top}/a\nb` }],
    ['an escape', { name: `${top}/\u001b[2Ja` }],
    ['reversed', { name: `${top}/a\u202egpj.exe` }],
    ['a backslash', { name: `${top}/..\\..\\x` }],
    ['a link', { name: `${top}/l`, type: 'symlink', linkname: '/etc/shadow' }],
    ['a hard link', { name: `${top}/l`, type: 'link', linkname: '/etc/shadow' }],
    ['a device', { name: `${top}/d`, type: 'block-device' }],
    ['a pipe', { name: `${top}/p`, type: 'fifo' }],
    ['twice', { ...good, text: 'other' }],
    ['below a file', { name: `${good.name}/below` }],
    ['too deep', { name: `${top}/${'a/'.repeat(20)}x` }],
    ['too long', { name: `${top}/${'a'.repeat(250)}` }],
  ];
  for (const [name, entry] of cases) {
    await t.test(name, async (t) => {
      const host = await hostWith(
        t.testdir({}),
        await archiveOf([good, entry, { name: `${top}/after.txt`, text: 'after' }]),
      );
      const sources = [...(await listed(earlier, host)).values()];
      t.strictSame(
        sources.map(({ path }) => path),
        [`${top}/good.txt`, `${top}/after.txt`, `${top}/unread-1.txt`],
      );
      const [first, , told] = sources;
      if (first !== undefined) t.equal(await textOf(first, host), 'good');
      if (told !== undefined) await t.rejects(textOf(told, host), { message: /left out of/ });
    });
  }
});

t.test('a folder blocks a file of the same name', async (t) => {
  const bundle = await archiveOf([{ name: `${top}/a/b` }, { name: `${top}/a` }]);
  const host = await hostWith(t.testdir({}), bundle);
  t.ok((await listed(earlier, host)).has(`${top}/unread-1.txt`));
});

t.test('a damaged bundle is used up to the damage', async (t) => {
  const noise = Array.from({ length: 20_000 }, (_, at) => (at * 7919).toString(36)).join(' ');
  const whole = await archiveOf([
    { name: `${top}/first.txt`, text: 'first' },
    { name: `${top}/torn.txt`, text: noise },
  ]);
  const flipped = Buffer.from(whole);
  flipped[whole.length - 20_000] = 255 - (flipped[whole.length - 20_000] ?? 0);
  const cases = {
    torn: whole.subarray(0, whole.length / 2),
    'changed inside': flipped,
    'no gzip': Buffer.from('no gzip'),
    empty: Buffer.alloc(0),
    'no tar': gzipSync('x'.repeat(5000)),
  };
  for (const [name, bundle] of Object.entries(cases)) {
    await t.test(name, async (t) => {
      const host = await hostWith(t.testdir({}), bundle);
      const paths = [...(await listed(earlier, host)).keys()];
      const isFirstReadable = name === 'torn' || name === 'changed inside';
      if (isFirstReadable) t.ok(paths.includes(`${top}/first.txt`));
      t.ok(paths.includes(`${top}/unread-1.txt`), 'the reason is an outcome');
      t.notOk(paths.includes(`${top}/torn.txt`) && name === 'torn', 'no half of a file');
    });
  }
});

t.test('it is bounded, whatever size it claims', async (t) => {
  const root = t.testdir({ work: {} });
  const bombs: [name: string, bundle: Buffer, limits: { entries: number; bytes: number }][] = [
    [
      'bytes',
      await archiveOf([
        { name: `${top}/a`, text: 'a' },
        { name: `${top}/zeros`, text: '\0'.repeat(8 << 20) },
      ]),
      { entries: 100, bytes: 1 << 20 },
    ],
    [
      'entries',
      await archiveOf(Array.from({ length: 50 }, (_, at) => ({ name: `${top}/${at}` }))),
      { entries: 10, bytes: 1 << 20 },
    ],
  ];
  for (const [name, bundle, limits] of bombs) {
    const archive = join(root, `${name}.tar.gz`);
    await writeFile(archive, bundle);
    const work = join(root, 'work', name);
    await mkdir(work);
    const { files, failure } = await unpack(
      archive,
      work,
      { ...limits, fileBytes: 16 << 20 },
      soon(),
    );
    t.match(failure, { message: /larger than a log bundle can be/ }, name);
    t.ok(files.length > 0 && files.length <= 10, `${name}: ${files.length} files before`);
  }
  const large = await archiveOf([
    { name: `${top}/large`, text: 'x'.repeat(5000) },
    { name: `${top}/small`, text: 'x' },
  ]);
  await writeFile(join(root, 'large.tar.gz'), large);
  const limits = { entries: 10, bytes: 1 << 20, fileBytes: 1000 };
  const found = await unpack(join(root, 'large.tar.gz'), join(root, 'work'), limits, soon());
  t.match(found, { files: [{ name: 'small' }], refused: [`"${top}/large"`] });
});

t.test('a link in its place is not followed, and a stop ends it', async (t) => {
  const root = t.testdir({ var: { log: {} }, work: {} });
  const bundle = await archiveOf([{ name: `${top}/a`, text: 'a' }]);
  await writeFile(join(root, 'elsewhere.tar.gz'), bundle);
  const place = join(root, 'var/log/log-bundle-bootstrap.tar.gz');
  await symlink(join(root, 'elsewhere.tar.gz'), place);
  await t.rejects(listed(earlier, hostAt(root, root)), { code: 'ELOOP' });
  const limits = { entries: 10, bytes: 1 << 20, fileBytes: 1000 };
  const stopped = AbortSignal.abort(new Error('stopped'));
  await t.rejects(unpack(join(root, 'elsewhere.tar.gz'), join(root, 'work'), limits, stopped), {
    message: 'stopped',
  });
});

t.test('names and phases', async (t) => {
  t.equal(nameInBundle('top/a/b.txt'), 'a/b.txt');
  for (const wrong of ['', '/', 'top', 'top/', 'top//a', 'top/./a', 'top/\ud800']) {
    t.equal(nameInBundle(wrong), undefined, JSON.stringify(wrong));
  }
  const phases = {
    'resources/nodes.json': 'diagnosis',
    'resources/pod-logs/a/b/c.log': 'bulk',
    'bootstrap/journals/journal.log.gz': 'bulk',
    'bootstrap/containers/tails/etcd-1.log': 'diagnosis',
    'bootstrap/containers/etcd-1.log': 'bulk',
    'bootstrap/containers/containers.json': 'diagnosis',
    'rendered-assets/manifests/a.yaml': 'bulk',
  };
  for (const [name, phase] of Object.entries(phases)) t.equal(phaseOf(name), phase, name);
});
