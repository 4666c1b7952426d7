import t from 'tap';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';

const configMap = (name: string, extra = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ns}\n${extra}`;

t.test('several documents, empty ones skipped, each with its position', async (t) => {
  const text = `# a comment\n---\n${configMap('a')}---\n---\n# nothing\n---\n${configMap('b')}---\n- x\n`;
  const object = (name: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'ns' },
  });
  const row = { file: 'f.yaml', apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns' };
  t.strictSame(decodeManifests('f.yaml', text), {
    manifests: [
      { ...row, document: 1, line: 3, name: 'a', object: object('a') },
      { ...row, document: 4, line: 10, name: 'b', object: object('b') },
    ],
    undecodable: [
      {
        file: 'f.yaml',
        document: 5,
        line: 14,
        reason: 'the document: expected a mapping, one object of Kubernetes',
      },
    ],
  });
  t.strictSame(decodeManifests('f.yaml', ''), { manifests: [], undecodable: [] });
});

t.test('a manifest keeps its fields, and may leave its namespace to the API', async (t) => {
  const object = {
    kind: 'A',
    apiVersion: 'v1',
    metadata: { name: 'x', labels: { a: 'b' } },
    data: 1,
  };
  const { manifests } = decodeManifests('f', JSON.stringify(object));
  t.match(manifests, [{ namespace: undefined, object }]);
});

t.test('lists are split, including typed and nested ones', async (t) => {
  const list = (kind: string, items: unknown[]) => ({ apiVersion: 'e.com/v1', kind, items });
  const item = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } });
  const nameless = { metadata: { name: 'b' } };
  const text = JSON.stringify(
    list('List', [
      item('a'),
      list('TillList', [nameless, item('c'), 'text']),
      list('List', []),
      nameless,
      null,
    ]),
  );
  const { manifests, undecodable } = decodeManifests('f.json', text);
  t.same(
    manifests.map(({ apiVersion, kind, name, object }) => ({ apiVersion, kind, name, object })),
    [
      { apiVersion: 'v1', kind: 'Secret', name: 'a', object: item('a') },
      {
        ...{ apiVersion: 'e.com/v1', kind: 'Till', name: 'b' },
        object: { apiVersion: 'e.com/v1', kind: 'Till', metadata: { name: 'b' } },
      },
      { apiVersion: 'v1', kind: 'Secret', name: 'c', object: item('c') },
    ],
  );
  t.match(undecodable, [
    { reason: /^the document: expected a mapping/ },
    { reason: /^apiVersion: .*; kind: / },
  ]);
  t.equal(undecodable.length, 2);
  const price = { apiVersion: 'e.com/v1', kind: 'PriceList', metadata: { name: 'p' } };
  t.match(decodeManifests('f', JSON.stringify(price)).manifests, [{ kind: 'PriceList' }]);
});

t.test('scalars are read as the API reads them', async (t) => {
  const data =
    'data: {mode: 0644, on: yes, ports: 22:22, sum: 1:30.5, day: 2024-01-02, at: 2024-01-02T03:04:05Z, text: "0644", merged: {<<: {a: 1}, b: 2}, none: ~}';
  const [manifest] = decodeManifests('f.yaml', configMap('a', data)).manifests;
  t.strictSame(manifest?.object.data, {
    mode: 420,
    true: true,
    ports: '22:22',
    sum: '1:30.5',
    day: '2024-01-02',
    at: '2024-01-02T03:04:05Z',
    text: '0644',
    merged: { a: 1, b: 2 },
    none: null,
  });
});

t.test('a large map is read in time, and a duplicate key is found', async (t) => {
  const keys = Array.from({ length: 20_000 }, (_, at) => `  k${at}: v\n`).join('');
  const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: large}\ndata:\n${keys}`;
  const began = performance.now();
  t.equal(decodeManifests('f.yaml', text).manifests.length, 1);
  t.match(decodeManifests('f.yaml', `${text}  k7: w\n  k9: w\n`).undecodable, [
    { line: 20_005, reason: 'Map keys must be unique' },
  ]);
  t.ok(performance.now() - began < 60_000, 'not by comparing each key with all others');
});

const UNDECODABLE: readonly {
  title: string;
  text: string;
  line: number;
  reason: RegExp | string;
}[] = [
  { title: 'a tab', text: 'apiVersion: v1\nkind:\n\t- x', line: 3, reason: /tab/i },
  {
    title: 'a key twice',
    text: `${configMap('a')}data:\n  b: 1\n  b: 2\n`,
    line: 6,
    reason: 'Map keys must be unique',
  },
  {
    title: 'a list as a key',
    text: `a: 1\n? [a]\n: 1\n`,
    line: 2,
    reason: 'a map or list is no key',
  },
  {
    title: 'an open brace',
    text: 'metadata: {name: x',
    line: 1,
    reason: 'unexpected end of the stream within a flow collection',
  },
  { title: 'no kind', text: 'apiVersion: v1\nmetadata: {name: x}', line: 1, reason: /^kind: / },
  {
    title: 'no apiVersion',
    text: 'kind: A\nmetadata: {name: x}',
    line: 1,
    reason: /^apiVersion: /,
  },
  {
    title: 'an empty apiVersion and kind',
    text: 'apiVersion: ""\nkind: ""\nmetadata: {name: ""}',
    line: 1,
    reason: /^apiVersion: .*; kind: .*; metadata\.name: is required/,
  },
  { title: 'no metadata', text: 'kind: A\napiVersion: v1', line: 1, reason: /^metadata: / },
  {
    title: 'a generated name',
    text: 'kind: Pod\napiVersion: v1\nmetadata: {generateName: x-}',
    line: 1,
    reason: 'metadata.name: is required: each object is created once, by its name',
  },
  {
    title: 'an empty namespace',
    text: 'kind: Pod\napiVersion: v1\nmetadata: {name: a, namespace: }',
    line: 1,
    reason: 'metadata.namespace: expected the name of one. Leave it out for none',
  },
  { title: 'a text', text: 'hello', line: 1, reason: /^the document: / },
  {
    title: 'a number as name',
    text: 'kind: Pod\napiVersion: v1\nmetadata: {name: 7}',
    line: 1,
    reason: 'metadata.name: expected a text. Put it in quotes',
  },
  { title: 'an unknown alias', text: 'kind: *nothing', line: 1, reason: /alias/i },
  { title: 'in a later document', text: `${configMap('a')}---\n- b`, line: 5, reason: /document/ },
];

for (const { title, text, line, reason } of UNDECODABLE) {
  t.test(`undecodable: ${title}`, async (t) => {
    const found = decodeManifests('f.yaml', text).undecodable;
    t.equal(found.length, 1);
    t.match(found, [{ file: 'f.yaml', line, reason }]);
    if (typeof reason === 'string') t.equal(found[0]?.reason, reason);
  });
}

t.test('aliases are limited in what they repeat', async (t) => {
  const aliases = (count: number) => {
    const pairs = Array.from({ length: count }, (_, at) => `  - &a${at} 1\n  - *a${at}\n`);
    return configMap('a', `x:\n${pairs.join('')}`);
  };
  t.match(decodeManifests('f', aliases(2000)).manifests, [{ name: 'a' }]);
  const levels = [...'bcdefghi'].map(
    (name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`).join(',')}]`,
  );
  const repeated = 'its aliases repeat too much';
  t.match(decodeManifests('f', `${configMap('b')}---\na: &a [x]\n${levels.join('\n')}`), {
    manifests: [{ name: 'b' }],
    undecodable: [{ document: 2, reason: repeated }],
  });
  const long = `a: &a ${'x'.repeat(100_000)}\nb:\n${'- *a\n'.repeat(500)}`;
  t.match(decodeManifests('f', long).undecodable, [{ line: 1, reason: repeated }]);
});
