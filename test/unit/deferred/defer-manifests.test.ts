import t from 'tap';
import { deferManifests } from '../../../cli/create/defer-manifests.ts';
import { decodeManifests } from '../../../lib/kube/manifest-decoding.ts';

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

t.test('files without such an object stay as they are, byte for byte', async (t) => {
  const files = {
    'manifests/a.yaml': `# mine\n${configMap('a')}`,
    'manifests/b.yaml': 'not: a manifest\n',
    'openshift/c.yaml': Buffer.from([0xff, 0xfe]),
  };
  const result = defer(files);
  t.same(
    result.manifests.map(({ path, contents }) => [path, contents]),
    Object.entries(files).map(([path, contents]) => [path, Buffer.from(contents)]),
  );
  t.match(result, { deferred: [], deferredNotices: [], skipped: ['a.txt'], faults: ['a fault'] });
});

t.test('a file of nothing else is taken out, in the order of the user', async (t) => {
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

t.test('of several documents and lists only those objects are taken', async (t) => {
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

t.test("a file with a document that cannot be decoded is the bootstrap's to judge", async (t) => {
  const text = `${till('a')}---\nkind: ConfigMap\nmetadata: {name: [\n`;
  const { manifests, deferred } = defer({ 'manifests/a.yaml': text });
  t.equal(manifests[0]?.contents.toString(), text);
  t.same(deferred, []);
});

t.test('the same object twice is a fault, and names are safe in a path', async (t) => {
  const { faults } = defer({ 'manifests/a.yaml': till('a'), 'openshift/b.yaml': till('a') });
  t.match(faults, [
    'a fault',
    'openshift/b.yaml:1: the same object as in manifests/a.yaml:1. Remove one.',
  ]);
  const strange = `{apiVersion: e.com/v1, kind: Till, metadata: {name: "../../x y", namespace: "${'n'.repeat(300)}"}}`;
  const { deferred } = defer({ 'manifests/a.yaml': strange });
  t.match(deferred[0]?.name, /^0001\.till\.n{100,}\.json$/);
  t.ok((deferred[0]?.name.length ?? 0) < 140);
  const up = defer({ 'a.yaml': till('"../../etc/x y"') }).deferred[0]?.name;
  t.equal(up, '0001.till...-..-etc-x-y.json');
});

t.test('each is told by kind, name, file and what becomes of it', async (t) => {
  const { deferredNotices } = defer({ 'manifests/a.yaml': `\n\n${till('a')}` });
  t.same(deferredNotices, [
    'deferred: Till a (manifests/a.yaml:3). Nothing serves example.com/v1 during the bootstrap: it is applied once that is served, until 168 h after the installation',
  ]);
});
