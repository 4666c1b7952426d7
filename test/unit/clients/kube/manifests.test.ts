import { mkdirSync, openSync, symlinkSync, truncateSync } from 'node:fs';
import t from 'tap';
import { groupOf } from '../../../../lib/clients/kube/kind-name.ts';
import {
  decodeManifestFile,
  loadManifests,
  type ManifestFault,
} from '../../../../lib/clients/kube/manifests.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';

const manifest = (apiVersion: string, kind: string, metadata: object) =>
  JSON.stringify({ apiVersion, kind, metadata });
const configMap = (name: string) => manifest('v1', 'ConfigMap', { name, namespace: 'ns' });

const faultText = (fault: ManifestFault) =>
  fault.kind === 'duplicate'
    ? `${fault.manifest.file} duplicates ${fault.first.file}`
    : `${fault.file}:${fault.document}:${fault.line} ${fault.reason}`;

t.test(
  'folders are read with their subfolders, by path, and every fault is reported',
  async (t) => {
    const root = t.testdir({
      one: {
        '20-b.yml': configMap('b'),
        '10-a.yaml': configMap('a'),
        sub: { deeper: { '05-c.json': manifest('v1', 'Secret', { name: 'c' }) } },
        'sub-first.yaml': configMap('sub-first'),
        'folder.yaml': { 'in.json': configMap('in') },
        'README.md': 'not read',
        'broken.yaml': 'a: [',
        'latin.yaml': Buffer.from([0x61, 0x3a, 0x20, 0xe4]),
        'empty.yaml': '',
      },
      two: { 'again.yaml': configMap('a'), '00.yaml': configMap('z') },
    });
    mkdirSync(`${root}/elsewhere`);
    symlinkSync(`${root}/two/again.yaml`, `${root}/one/link.yaml`);
    symlinkSync(`${root}/elsewhere`, `${root}/one/linked`);
    // More than a single read can return.
    openSync(`${root}/one/huge.yaml`, 'w');
    truncateSync(`${root}/one/huge.yaml`, 2 ** 31);
    const loaded = await loadManifests([`${root}/one`, `${root}/absent`, `${root}/two`]);
    t.strictSame(
      loaded.manifests.map(({ name, file }) => `${name} ${file.slice(root.length)}`),
      [
        'a /one/10-a.yaml',
        'b /one/20-b.yml',
        'in /one/folder.yaml/in.json',
        'sub-first /one/sub-first.yaml',
        'c /one/sub/deeper/05-c.json',
        'z /two/00.yaml',
      ],
    );
    t.match(
      loaded.faults.map((fault) => faultText(fault).replaceAll(root, '')),
      [
        /^\/one\/broken.yaml:1:1 unexpected end .* flow/,
        /^\/one\/huge.yaml:1:1 .*2 GiB/,
        '/one/latin.yaml:1:1 is not UTF-8 text',
        '/one/link.yaml:1:1 is a symbolic link',
        '/one/linked:1:1 is a symbolic link',
        '/two/again.yaml duplicates /one/10-a.yaml',
      ],
    );
    symlinkSync('loop', `${root}/loop`);
    t.match(await thrownBy(loadManifests([`${root}/loop`])), {
      kind: 'usage',
      message: `the manifests in ${root}/loop cannot be read`,
      cause: { code: 'ELOOP' },
    });
  },
);

t.test(
  'one object is one manifest, whatever its version, with the default namespace or without',
  async (t) => {
    const x = { name: 'x' };
    const root = t.testdir({
      'a.yaml': manifest('batch/v1', 'CronJob', x),
      'b.yaml': manifest('batch/v1beta1', 'CronJob', x),
      'c.yaml': manifest('other/v1', 'CronJob', x),
      'd.yaml': manifest('batch/v1', 'CronJob', { name: 'x', namespace: 'n' }),
      'e.yaml': manifest('batch/v1', 'CronJob', { name: 'y' }),
      'f.yaml': manifest('batch/v1', 'Job', x),
      'g.yaml': manifest('batch/v1', 'CronJob', { name: 'x', namespace: 'n' }),
      'h.yaml': manifest('batch/v1', 'CronJob', { name: 'x', namespace: 'default' }),
    });
    const { manifests, faults } = await loadManifests([root]);
    t.equal(manifests.length, 5);
    t.strictSame(
      faults.map((fault) => faultText(fault).replaceAll(`${root}/`, '')),
      ['b.yaml duplicates a.yaml', 'g.yaml duplicates d.yaml', 'h.yaml duplicates a.yaml'],
    );
  },
);

t.test('no file contents make decoding throw', async (t) => {
  const decode = (text: string) => decodeManifestFile('f', Buffer.from(text));
  t.match(decode(configMap('a')), { manifests: [{ name: 'a' }], undecodable: [] });
  const wrong = { manifests: [], undecodable: [{ file: 'f', document: 1, line: 1 }] };
  t.match(decode(`a: ${'['.repeat(100_000)}`), wrong);
  t.match(decode(`a: ${'['.repeat(100_000)}`).undecodable, [{ reason: 'is nested too deeply' }]);
  const utf16 = decodeManifestFile('f', Buffer.from('\ufeffa: b', 'utf16le'));
  t.strictSame(utf16.undecodable, [
    { file: 'f', document: 1, line: 1, reason: 'is not UTF-8 text' },
  ]);
});

t.test('the group of an apiVersion', async (t) => {
  t.equal(groupOf('v1'), '');
  t.equal(groupOf('apps/v1'), 'apps');
  t.equal(groupOf('a/b/v1'), 'a/b');
});
