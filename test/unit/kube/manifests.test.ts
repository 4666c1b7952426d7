import { mkdirSync, symlinkSync } from 'node:fs';
import t from 'tap';
import { decodeManifests } from '../../../lib/kube/manifest-decoding.ts';
import { loadManifests } from '../../../lib/kube/manifests.ts';

const configMap = (name: string, extra = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ns}\n${extra}`;
const names = ({ manifests }: { manifests: readonly { name: string }[] }) =>
  manifests.map(({ name }) => name);

t.test('several documents, empty ones skipped, each with its place', async (t) => {
  const text = `# a comment\n---\n${configMap('a')}---\n---\n# nothing\n---\n${configMap('b')}`;
  const { manifests, undecodable } = decodeManifests('f.yaml', text);
  t.same(undecodable, []);
  t.match(manifests, [
    { name: 'a', namespace: 'ns', line: 3 },
    { name: 'b', line: 10 },
  ]);
});

t.test('lists are taken apart, also typed and nested ones', async (t) => {
  const list = (kind: string, items: unknown[]) => ({ apiVersion: 'v1', kind, items });
  const item = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } });
  const text = JSON.stringify(
    list('List', [
      item('a'),
      list('ConfigMapList', [{ metadata: { name: 'b' } }]),
      list('List', []),
    ]),
  );
  const { manifests } = decodeManifests('f.json', text);
  t.match(manifests, [
    { kind: 'Secret', name: 'a' },
    { kind: 'ConfigMap', apiVersion: 'v1', name: 'b' },
  ]);
});

t.test('scalars are read as the API reads them', async (t) => {
  const data =
    'data: {mode: 0644, on: yes, ports: 22:22, day: 2024-01-02, text: "0644", merged: {<<: {a: 1}, b: 2}}';
  const [manifest] = decodeManifests('f.yaml', configMap('a', data)).manifests;
  t.same(manifest?.object.data, {
    mode: 420,
    true: true,
    ports: '22:22',
    day: '2024-01-02',
    text: '0644',
    merged: { a: 1, b: 2 },
  });
});

t.test('a large map is read in time, and a key that it has twice is found', async (t) => {
  const keys = Array.from({ length: 20_000 }, (_, at) => `  k${at}: v\n`).join('');
  const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: large}\ndata:\n${keys}`;
  const began = performance.now();
  t.equal(decodeManifests('f.yaml', text).manifests.length, 1);
  t.match(decodeManifests('f.yaml', `${text}  k7: w\n`).undecodable, [
    { line: 20_005, reason: /unique/ },
  ]);
  t.ok(performance.now() - began < 10_000, 'not by comparing each key with all others');
});

const undecodable = [
  { title: 'a tab', text: 'apiVersion: v1\nkind:\n\t- x', line: 3, reason: /tab/i },
  { title: 'a key twice', text: `${configMap('a')}kind: Secret\n`, line: 4, reason: /unique/i },
  { title: 'an open brace', text: 'metadata: {name: x', line: 1, reason: /flow map/i },
  { title: 'no kind', text: 'apiVersion: v1\nmetadata: {name: x}', line: 1, reason: /kind/ },
  {
    title: 'no apiVersion',
    text: 'kind: Secret\nmetadata: {name: x}',
    line: 1,
    reason: /apiVersion/,
  },
  { title: 'no metadata', text: 'kind: Secret\napiVersion: v1', line: 1, reason: /metadata/ },
  {
    title: 'a generated name',
    text: 'kind: Pod\napiVersion: v1\nmetadata: {generateName: x-}',
    line: 1,
    reason: /metadata\.name: must be given/,
  },
  { title: 'a text', text: 'hello', line: 1, reason: /the document/ },
  { title: 'a sequence', text: '- a\n- b', line: 1, reason: /the document/ },
  {
    title: 'a number as name',
    text: 'kind: Pod\napiVersion: v1\nmetadata: {name: 7}',
    line: 1,
    reason: /name/,
  },
  { title: 'an unknown alias', text: 'kind: *nothing', line: 1, reason: /alias/i },
  {
    title: 'in a later document',
    text: `${configMap('a')}---\n- b`,
    line: 5,
    reason: /the document/,
  },
];

t.test('what is not a manifest is reported with its line', async (t) => {
  for (const { title, text, line, reason } of undecodable) {
    const found = decodeManifests('f.yaml', text).undecodable;
    t.match(found, [{ file: 'f.yaml', line, reason }], title);
    t.equal(found.length, 1, `${title}: once`);
  }
});

t.test('aliases that would grow without end are refused', async (t) => {
  const levels = [...'bcdefghi'].map(
    (name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`).join(',')}]`,
  );
  const { manifests, undecodable } = decodeManifests('f.yaml', `a: &a [x]\n${levels.join('\n')}`);
  t.same(manifests, []);
  t.equal(undecodable.length, 1);
});

t.test('folders are read below, in lexical order, and every fault is told', async (t) => {
  const root = t.testdir({
    one: {
      '20-b.yml': configMap('b'),
      '10-a.yaml': configMap('a'),
      sub: {
        '05-c.json': JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'c' } }),
      },
      'README.md': 'not read',
      'broken.yaml': 'a: [',
      'latin.yaml': Buffer.from([0x61, 0x3a, 0x20, 0xe4]),
      'empty.yaml': '',
    },
    two: { 'again.yaml': configMap('a') },
  });
  mkdirSync(`${root}/elsewhere`);
  symlinkSync(`${root}/two/again.yaml`, `${root}/one/link.yaml`);
  symlinkSync(`${root}/elsewhere`, `${root}/one/linked`);
  const loaded = await loadManifests([`${root}/one`, `${root}/absent`, `${root}/two`]);
  t.same(names(loaded), ['a', 'b', 'c']);
  t.match(
    loaded.faults.map((fault) => (fault.kind === 'duplicate' ? fault : [fault.file, fault.reason])),
    [
      [`${root}/one/broken.yaml`, /flow/i],
      [`${root}/one/latin.yaml`, /UTF-8/],
      [`${root}/one/link.yaml`, /link/],
      [`${root}/one/linked`, /link/],
      { manifest: { file: `${root}/two/again.yaml` }, first: { file: `${root}/one/10-a.yaml` } },
    ],
  );
});

t.test('the same object in two versions of a group is one object', async (t) => {
  const root = t.testdir({
    'a.yaml': 'apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: x}',
    'b.yaml': 'apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: x}',
    'c.yaml': 'apiVersion: other/v1\nkind: CronJob\nmetadata: {name: x}',
    'd.yaml': 'apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: x, namespace: other}',
  });
  const { manifests, faults } = await loadManifests([root]);
  t.equal(manifests.length, 3);
  t.match(faults, [{ kind: 'duplicate', manifest: { file: `${root}/b.yaml` } }]);
});
