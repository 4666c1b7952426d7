import t from 'tap';
import { deferManifests } from '../../../../cli/create/defer-manifests.ts';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';

const till = (name: string) =>
  `apiVersion: example.com/v1\nkind: Till\nmetadata:\n  name: ${name}\nspec: {drawers: 2}\n`;
const configMap = (name: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata: {mode: "0644", on: "yes"}\n`;

function defer(files: Record<string, string | Buffer>) {
  const manifests = Object.entries(files).map(([path, contents]) => ({
    path,
    contents: Buffer.from(contents),
  }));
  return deferManifests({ manifests, skipped: ['a.txt'], faults: ['a fault'] });
}

t.test('files without such an object are unchanged, byte for byte', async (t) => {
  const files = {
    'manifests/a.yaml': `# mine\n${configMap('a')}`,
    'manifests/b.yaml': '# nothing but a comment\n',
  };
  const result = defer(files);
  t.same(
    result.manifests.map(({ path, contents }) => [path, contents]),
    Object.entries(files).map(([path, contents]) => [path, Buffer.from(contents)]),
  );
  t.match(result, { deferred: [], deferredNotices: [], skipped: ['a.txt'], faults: ['a fault'] });
});

t.test("a file with only such objects is taken out, in the user's order", async (t) => {
  const { manifests, deferred } = defer({
    'manifests/a.yaml': till('z'),
    'manifests/b.yaml': `${till('b')}---\n${till('a')}`,
  });
  t.same(manifests, []);
  t.same(
    deferred.map(({ name }) => name),
    ['0001.till.z.json', '0002.till.b.json', '0003.till.a.json'],
  );
  t.same(JSON.parse(deferred[0]?.contents ?? ''), {
    apiVersion: 'example.com/v1',
    kind: 'Till',
    metadata: { name: 'z' },
    spec: { drawers: 2 },
  });
});

t.test('from several documents and lists only those objects are taken out', async (t) => {
  const list = (items: string[]) =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: items.flatMap((text) =>
        decodeManifests('x', text).manifests.map(({ object }) => object),
      ),
    });
  const text = [
    `# first\n${configMap('one')}`,
    till('first'),
    list([configMap('two'), till('second'), configMap('three')]),
    list([till('third')]),
    configMap('four'),
  ].join('\n---\n');
  const before = decodeManifests('manifests/a.yaml', text);
  const { manifests, deferred } = defer({ 'manifests/a.yaml': text });
  t.same(
    deferred.map(({ name }) => name),
    ['first', 'second', 'third'].map((name, at) => `000${at + 1}.till.${name}.json`),
  );
  const [kept] = manifests;
  const after = decodeManifests('manifests/a.yaml', kept?.contents.toString() ?? '');
  t.same(after.undecodable, []);
  const facts = (all: typeof before.manifests) =>
    all.filter(({ kind }) => kind === 'ConfigMap').map(({ line, object }) => ({ line, object }));
  t.equal(after.manifests.length, 4);
  t.same(facts(after.manifests), facts(before.manifests), 'the others, each on its line');
});

const BROKEN: readonly { name: string; contents: string | Buffer; faults: readonly RegExp[] }[] = [
  {
    name: 'an open bracket',
    contents: '# x\na: [',
    faults: [/^a\.yaml:2: unexpected end .* flow/],
  },
  {
    name: 'a list',
    contents: '- a\n- b\n',
    faults: [/^a\.yaml:1: the document: .*expected a mapping, one object/],
  },
  { name: 'a text', contents: 'hello', faults: [/^a\.yaml:1: the document: /] },
  {
    name: 'bytes that are not UTF-8',
    contents: Buffer.from([0x61, 0xff]),
    faults: [/^a\.yaml:1: .*UTF-8/],
  },
  { name: 'UTF-16', contents: Buffer.from('\ufeffa: b', 'utf16le'), faults: [/UTF-8/] },
  {
    name: 'no kind',
    contents: 'apiVersion: v1\nmetadata: {name: a}',
    faults: [/^a\.yaml:1: kind: /],
  },
  {
    name: 'no apiVersion',
    contents: 'kind: A\nmetadata: {name: a}',
    faults: [/^a\.yaml:1: apiVersion: /],
  },
  {
    name: 'nothing that the API needs',
    contents: 'a: b',
    faults: [/apiVersion: .*; kind: .*; metadata: /],
  },
  {
    name: 'each broken document, beside a good one',
    contents: `${configMap('a')}---\n- a\n---\nnull\n---\n${till('b')}---\nb: [\n`,
    faults: [/^a\.yaml:7: the document/, /^a\.yaml:17: unexpected end .* flow/],
  },
  { name: 'a null item', contents: 'a: null', faults: [/apiVersion/] },
  { name: 'an alias of itself', contents: 'a: &a {b: *a}', faults: [/^a\.yaml:1: /] },
  {
    name: 'aliases of aliases',
    contents: `a: &a [x]\n${[...'bcdefghi'].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`).join(',')}]`).join('\n')}`,
    faults: [/^a\.yaml:2: its aliases repeat too much/],
  },
  {
    name: 'twenty thousand aliases of a long text',
    contents: `${configMap('a')}x: &x ${'x'.repeat(1000)}\ny:\n${'  - *x\n'.repeat(20_000)}`,
    faults: [/^a\.yaml:6: its aliases repeat too much/],
  },
  {
    name: 'a hundred thousand brackets',
    contents: `a: ${'['.repeat(100_000)}`,
    faults: [/^a\.yaml:1: is nested too deeply/],
  },
  {
    name: 'more faults than a person reads',
    contents: '- a\n---\n'.repeat(1000),
    faults: [
      ...Array(10).fill(/^a\.yaml:\d+: the document/),
      /^a\.yaml: 990 more documents cannot/,
    ],
  },
  {
    name: 'what a terminal would obey',
    contents: 'a: b\n"\u001b[2J": &x\n? ',
    faults: [/^a\.yaml:\d+: \P{Cc}*$/u],
  },
];
for (const { name, contents, faults } of BROKEN) {
  t.test(`refused: ${name}`, async (t) => {
    const [given, ...found] = defer({ 'a.yaml': contents }).faults;
    t.equal(given, 'a fault');
    t.match(found, faults);
    t.equal(found.length, faults.length);
    for (const fault of found) t.ok(fault.length < 500, 'one line of a length to be read');
  });
}

t.test('a duplicate object is a fault, and names are safe in a path', async (t) => {
  const { faults } = defer({ 'manifests/a.yaml': till('a'), 'openshift/b.yaml': till('a') });
  t.match(faults, [
    'a fault',
    'openshift/b.yaml:1: the same object as in manifests/a.yaml:1. Remove one.',
  ]);
  const both = defer({ 'manifests/a.yaml': configMap('a'), 'openshift/b.yaml': configMap('a') });
  t.match(both.faults, ['a fault', /^openshift\/b\.yaml:1: the same object/], 'of any kind');
  const strange = `{apiVersion: e.com/v1, kind: Till, metadata: {name: "../../x y", namespace: "${'n'.repeat(300)}"}}`;
  const { deferred } = defer({ 'manifests/a.yaml': strange });
  t.match(deferred[0]?.name, /^0001\.till\.n{100,}\.json$/);
  t.ok((deferred[0]?.name.length ?? 0) < 140);
  const up = defer({ 'a.yaml': till('"../../etc/x y"') }).deferred[0]?.name;
  t.equal(up, '0001.till...-..-etc-x-y.json');
});

t.test('each is reported with its kind, name, file and fate', async (t) => {
  const { deferredNotices } = defer({ 'manifests/a.yaml': `\n\n${till('a')}` });
  t.same(deferredNotices, [
    'deferred: Till a (manifests/a.yaml:3). Nothing serves example.com/v1 during the bootstrap; it will be applied when its kind is served, within 168 h after the installation',
  ]);
});
