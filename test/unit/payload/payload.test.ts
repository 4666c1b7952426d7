import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { createLogger } from '../../../lib/base/log/logger.ts';
import { Progress } from '../../../lib/engine/steps/progress.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { installBinaries } from '../../../lib/payload/binaries.ts';
import { bringPayload } from '../../../lib/payload/bring.ts';
import { parsePayload, payloadPath, readPayload } from '../../../lib/payload/payload.ts';
import { verifyPayload } from '../../../lib/payload/verify.ts';

const signal = new AbortController().signal;
const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const hex = 'a'.repeat(64);

interface Entry {
  name?: string;
  reference?: string;
  id?: string;
  archive?: string;
  size?: number;
  file?: string;
  kind?: string;
  sha256?: string;
}

/** A valid payload.yaml (as JSON, a subset of YAML) with parts replaced. */
function description(image: Entry = {}, binary: Entry = {}, top: object = {}): string {
  return JSON.stringify({
    apiVersion: 'sno-agents/v1',
    kind: 'Payload',
    architecture: 'amd64',
    versions: { kubernetes: 'v1.34.4', etcd: 'v3.6.8' },
    images: [
      {
        name: 'etcd',
        reference: 'registry.k8s.io/etcd:3.6.8-0',
        id: `sha256:${hex}`,
        archive: 'images/etcd.tar',
        size: 3,
        sha256: hex,
        ...image,
      },
    ],
    binaries: [{ name: 'kubelet', file: 'bin/kubelet', size: 9, sha256: hex, ...binary }],
    ...top,
  });
}

t.test('a valid payload', async (t) => {
  const text = `
apiVersion: sno-agents/v1
kind: Payload
architecture: arm64
versions: { kubernetes: v1.34.4, etcd: v3.6.8 }
images:
  - { name: etcd, reference: 'registry.k8s.io/etcd:3.6.8-0', id: 'sha256:${hex}', archive: images/etcd.tar, size: 1, sha256: ${hex} }
binaries:
  - { name: kubelet, file: bin/kubelet, size: 1, sha256: ${hex} }
  - { name: etcdutl, kind: host, file: bin/etcdutl, size: 1, sha256: ${hex} }
  - { name: host-local, kind: cni, file: cni/host-local, size: 1, sha256: ${hex} }
`;
  const { images, binaries, versions } = parsePayload(text, 'payload.yaml');
  t.equal(images[0]?.reference, 'registry.k8s.io/etcd:3.6.8-0');
  t.strictSame(
    binaries.map(({ kind }) => kind),
    ['host', 'host', 'cni'],
  );
  t.equal(versions.etcd, 'v3.6.8');
});

t.test('every fault names the file and the field', async (t) => {
  const cases: [string, string, RegExp][] = [
    [
      'absolute path',
      description({}, { file: '/bin/sh' }),
      /binaries\[0\]\.file: expected a path inside/,
    ],
    [
      'parent path',
      description({ archive: 'images/../../etc/shadow' }),
      /images\[0\]\.archive: .*inside/,
    ],
    ['only a parent', description({ archive: '..' }), /images\[0\]\.archive/],
    ['hidden in a segment', description({ archive: 'images/./etcd.tar' }), /images\[0\]\.archive/],
    ['an option', description({ archive: '-o/etcd.tar' }), /images\[0\]\.archive/],
    ['end of line', description({}, { file: 'bin/kubelet\n' }), /binaries\[0\]\.file/],
    [
      'name with a path',
      description({}, { name: '../kubelet' }),
      /binaries\[0\]\.name: expected a file name/,
    ],
    ['name with dots', description({}, { name: '..' }), /binaries\[0\]\.name/],
    ['reference as option', description({ reference: '--all' }), /images\[0\]\.reference/],
    [
      'reference without tag',
      description({ reference: 'registry.k8s.io/etcd' }),
      /registry and tag/,
    ],
    ['short digest', description({ sha256: 'abc' }), /images\[0\]\.sha256: expected a SHA-256/],
    ['upper case digest', description({ sha256: 'A'.repeat(64) }), /images\[0\]\.sha256/],
    ['an id that is not a digest', description({ id: hex }), /images\[0\]\.id: expected sha256:/],
    ['an empty file', description({}, { size: 0 }), /binaries\[0\]\.size/],
    ['another architecture', description({}, {}, { architecture: 'x86_64' }), /architecture/],
    ['unknown kind', description({}, { kind: 'kernel' }), /binaries\[0\]\.kind/],
    ['unknown field', description({}, {}, { hooks: ['sh'] }), /hooks/],
    ['other version', description({}, {}, { apiVersion: 'v2' }), /apiVersion/],
    ['no images', description({}, {}, { images: [] }), /images: /],
    ['no binaries', description({}, {}, { binaries: [] }), /binaries: /],
    ['half a byte', description({ size: 1.5 }), /images\[0\]\.size/],
    ['another kind', description({}, {}, { kind: 'Load' }), /kind/],
    [
      'no version',
      description({}, {}, { versions: {} }),
      /: versions\.kubernetes: .*; versions\.etcd: /,
    ],
    [
      'a version without v',
      description({}, {}, { versions: { kubernetes: '1.34.4', etcd: 'v3.6' } }),
      /versions\.kubernetes: expected a version such as v1\.34\.4.*versions\.etcd/,
    ],
    ['an unknown field of an image', description(JSON.parse('{"run":"sh"}')), /images\[0\]: .*run/],
    [
      'an unknown field of a binary',
      description({}, JSON.parse('{"run":"sh"}')),
      /binaries\[0\]: .*run/,
    ],
    ['not YAML', '{ a: [', /payload\.yaml: .*line 1/],
    ['a key twice', 'kind: Payload\nkind: Payload', /unique.*line 2/],
    ['empty', '', /the document/],
    ['an alias bomb', aliasBomb(), /payload\.yaml: .*alias/],
  ];
  for (const [name, text, error] of cases) {
    const parse = () => parsePayload(text, '/medium/payload.yaml');
    t.throws(parse, Failure, name);
    t.throws(parse, error, name);
    t.throws(parse, /\/medium\/payload\.yaml/, name);
  }
  const two = description({ sha256: 'x' }, { file: '/x' });
  t.throws(() => parsePayload(two, 'p'), /images\[0\]\.sha256.*binaries\[0\]\.file/, 'all at once');
  const twice = JSON.parse(description());
  twice.binaries.push({ ...twice.binaries[0], file: 'bin/other' });
  t.throws(
    () => parsePayload(JSON.stringify(twice), 'p'),
    /binaries\[1\]\.name: duplicate kubelet/,
  );
  const named = JSON.parse(description());
  named.images.push({ ...named.images[0], name: 'other' });
  t.throws(
    () => parsePayload(JSON.stringify(named), 'p'),
    /images\[1\]\.reference: duplicate registry\.k8s\.io\/etcd:3\.6\.8-0/,
  );
  const alike = JSON.parse(description());
  alike.images.push({ ...alike.images[0], reference: 'registry.k8s.io/etcd:other' });
  t.throws(() => parsePayload(JSON.stringify(alike), 'p'), /images\[1\]\.name: duplicate etcd/);
});

t.test('texts have a maximum length', async (t) => {
  const rows: [field: string, longest: number, textOf: (length: number) => string][] = [
    ['archive', 255, (length) => description({ archive: 'a'.repeat(length) })],
    ['file', 255, (length) => description({}, { file: 'a'.repeat(length) })],
    ['name', 63, (length) => description({ name: 'a'.repeat(length) })],
    ['reference', 255, (length) => description({ reference: 'r.test/a:1'.padStart(length, 'r') })],
  ];
  for (const [field, longest, textOf] of rows) {
    t.doesNotThrow(() => parsePayload(textOf(longest), 'p'), `${field} of ${longest}`);
    t.throws(() => parsePayload(textOf(longest + 1), 'p'), new RegExp(`\\]\\.${field}: `), field);
  }
});

t.test('a missing payload, and one that is too large', async (t) => {
  await t.rejects(readPayload(t.testdir()), {
    kind: 'usage',
    code: 'payload-damaged',
    message: /No payload found: .*payload\.yaml does not exist/,
  });
  const large = t.testdir({ 'payload.yaml': `#${'x'.repeat(1 << 20)}` });
  await t.rejects(readPayload(large), { kind: 'usage', message: /at most 1048576 bytes/ });
  const largest = `${description()}\n#`.padEnd(1 << 20, 'x');
  t.match(await readPayload(t.testdir({ 'payload.yaml': largest })), { kind: 'Payload' });
  const folder = t.testdir({ 'payload.yaml': {} });
  const notFile = { kind: 'usage', message: /not a regular file/ };
  await t.rejects(readPayload(folder), notFile, 'unreadable is not absent');
  const circle = t.testdir({ 'payload.yaml': t.fixture('symlink', 'payload.yaml') });
  await t.rejects(readPayload(circle), { code: 'ELOOP' }, 'nor is a link to itself');
});

/** A payload folder on the disk with one image and two binaries. */
function payloadFolder(t: Pick<Test, 'testdir'>): string {
  const directory = t.testdir({
    outside: 'secret',
    payload: {
      images: { 'etcd.tar': 'tar' },
      bin: { kubelet: 'kubelet 1' },
      cni: { bridge: 'bridge 1' },
    },
  });
  const binaries = [
    { name: 'kubelet', file: 'bin/kubelet', size: 9, sha256: digest('kubelet 1') },
    { name: 'bridge', kind: 'cni', file: 'cni/bridge', size: 8, sha256: digest('bridge 1') },
  ];
  const text = description({ sha256: digest('tar') }, {}, { binaries });
  writeFileSync(join(directory, 'payload/payload.yaml'), text);
  return join(directory, 'payload');
}

t.test('all files are verified', async (t) => {
  const directory = payloadFolder(t);
  const payload = await readPayload(directory);
  await verifyPayload(payload, signal);
  writeFileSync(join(directory, 'images/etcd.tar'), 'rat');
  writeFileSync(join(directory, 'cni/bridge'), 'bridge 2');
  await t.rejects(verifyPayload(payload, signal), {
    kind: 'fatal',
    message: /images\/etcd\.tar: expected.*cni\/bridge: expected/,
  });
  await t.rejects(
    verifyPayload(payload, AbortSignal.abort(new Error('stopped'))),
    /stopped|abort/i,
  );
});

t.test('a payload for other hosts is refused first', async (t) => {
  const architecture = process.arch === 'arm64' ? 'amd64' : 'arm64';
  const directory = t.testdir({ 'payload.yaml': description({}, {}, { architecture }) });
  const log = createLogger({ write: () => true });
  const progress = new Progress(signal, performance.now() + 30_000, log, { waiting: () => true });
  await t.rejects(bringPayload(directory, hostPaths(directory), progress), {
    kind: 'fatal',
    code: 'payload-mismatch',
    message: new RegExp(`is for another architecture; expected .*; found ${architecture}`),
  });
});

t.test('links and special files are not followed', async (t) => {
  const directory = payloadFolder(t);
  const payload = await readPayload(directory);
  symlinkSync('../outside', join(directory, 'link'));
  symlinkSync('bin', join(directory, 'folder-link'));
  symlinkSync('circle', join(directory, 'circle'));
  mkdirSync(join(directory, 'folder'));
  await t.rejects(payloadPath(payload, 'link'), {
    kind: 'usage',
    message: /not a regular file.*found a link to .*outside/,
  });
  await t.rejects(payloadPath(payload, 'folder-link/kubelet'), /not a regular file/);
  await t.rejects(payloadPath(payload, 'circle'), { code: 'ELOOP' });
  await t.rejects(payloadPath(payload, 'folder'), {
    kind: 'usage',
    message: /not a regular file.*found something else/,
  });
  await t.rejects(payloadPath(payload, 'absent'), {
    kind: 'usage',
    code: 'payload-damaged',
    message: /does not contain absent; expected .*\/payload\/absent/,
  });
  t.equal(await payloadPath(payload, 'bin/kubelet'), join(directory, 'bin/kubelet'));
});

t.test('binaries are installed completely, once, and only as described', async (t) => {
  const directory = payloadFolder(t);
  const payload = await readPayload(directory);
  const destinations = {
    host: join(directory, '../state/bin'),
    cni: join(directory, '../opt/cni'),
  };
  const labelled: string[] = [];
  const label = async (paths: readonly string[]) => {
    labelled.push(...paths);
  };
  const install = () => installBinaries(payload, destinations, signal, label);
  const kubelet = join(destinations.host, 'kubelet');
  t.strictSame(await install(), [kubelet, join(destinations.cni, 'bridge')]);
  t.equal(await readFile(kubelet, 'utf8'), 'kubelet 1');
  t.equal((await stat(kubelet)).mode & 0o7777, 0o755);
  t.equal(labelled.length, 2, 'labelled before they have their names');
  t.strictSame(await install(), [], 'nothing to do');
  writeFileSync(kubelet, 'half');
  t.strictSame(await install(), [kubelet], 'what was damaged is replaced');

  writeFileSync(kubelet, 'old');
  writeFileSync(join(directory, 'bin/kubelet'), 'changed after it was verified');
  await t.rejects(install(), {
    kind: 'fatal',
    code: 'payload-damaged',
    message: /payload file bin\/kubelet is damaged/,
  });
  t.equal(await readFile(kubelet, 'utf8'), 'old');
  t.strictSame(await readdir(destinations.host), ['kubelet'], 'nothing is left beside it');
});

function aliasBomb(): string {
  const rows = Array.from(
    { length: 12 },
    (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(9)}1]`,
  );
  return `a0: &a0 [x]\n${rows.join('\n')}\n`;
}
