import t from 'tap';
import { explain, treeDifferences } from '../../../lab/openshift/tree-differences.ts';

const tree = (
  texts: Readonly<Record<string, string>>,
  names: Readonly<Record<string, string>> = {},
) => ({
  texts: new Map(Object.entries(texts)),
  names,
});
const differences = (ours: string, real: string) =>
  treeDifferences(tree({ 'a.yaml': ours }), tree({ 'a.yaml': real }));
const base64 = (text: string) => Buffer.from(text).toString('base64');
const pem = (kind: string, body: string) =>
  `-----BEGIN ${kind}-----\n${body}\n-----END ${kind}-----\n`;

t.test('files that only one tree has', async (t) => {
  t.same(treeDifferences(tree({ a: 'x: 1', b: 'x: 1' }), tree({ b: 'x: 1', c: 'x: 1' })), [
    'a: ours',
    'c: real',
  ]);
});

const table: [title: string, ours: string, real: string, found: string[]][] = [
  ['the order and style of fields', 'a: 1\nb: {c: "d"}', '{"b":{"c":"d"},"a":1}', []],
  ['a value', 'a: {b: 1}', 'a: {b: 2}', ['a.yaml: a b: both']],
  ['a field of ours', 'a: {b: 1, c: 2}', 'a: {b: 1}', ['a.yaml: a c: ours']],
  ['a field of theirs', 'a: {b: 1}', 'a: {b: 1, c: 2}', ['a.yaml: a c: real']],
  ['the order of named items', 'a: [{name: x}, {name: y}]', 'a: [{name: y}, {name: x}]', []],
  [
    'a field of a named item',
    'a: [{name: x, b: 1}]',
    'a: [{name: x, b: 2}]',
    ['a.yaml: a x b: both'],
  ],
  ['the order of other items', 'a: [{c: 1, d: 2}, z]', 'a: [z, {d: 2, c: 1}]', []],
  ['other items', 'a: [x, y]', 'a: [x, z]', ['a.yaml: a: items: ours', 'a.yaml: a: items: real']],
  ['one more item', 'a: [x, y]', 'a: [x]', ['a.yaml: a: items: ours']],
  ['documents', 'a: 1\n---\nb: 1', 'a: 1', ['a.yaml: both']],
  [
    'a certificate',
    `a: ${base64(pem('CERTIFICATE', 'AA'))}`,
    `a: ${base64(pem('CERTIFICATE', 'BB'))}`,
    [],
  ],
  [
    'a key for a certificate',
    `a: ${base64(pem('PRIVATE KEY', 'AA'))}`,
    `a: ${base64(pem('CERTIFICATE', 'AA'))}`,
    ['a.yaml: a: both'],
  ],
  ['an image', 'a: registry.lab/ocp/x@sha256:0f', 'a: localhost:5000/lab/y:1', []],
  ['an image for another value', 'a: registry.lab/ocp/x@sha256:0f', 'a: x', ['a.yaml: a: both']],
];
for (const [title, ours, real, found] of table) {
  t.test(title, async (t) => t.same(differences(ours, real), found));
}

t.test('names of a cluster, also in paths and fields', async (t) => {
  const of = (host: string, domain: string) =>
    tree({ [`etcd-${host}.yaml`]: `{"${host}.key": "https://api.${domain}"}` }, { host, domain });
  t.same(treeDifferences(of('sno.lab.test', 'lab.test'), of('master-0', 'example.net')), []);
  t.same(treeDifferences(of('sno', 'lab.test'), tree({}, {})), ['etcd-<host>.yaml: ours']);
});

t.test('each difference needs a reason, and each reason a difference', async (t) => {
  const reasons = [
    { difference: /^a: /, reason: 'first' },
    { difference: /ours$/, reason: 'second' },
    { difference: /^z/, reason: 'third' },
  ];
  const { unexplained, byReason, stale } = explain(['a: ours', 'b: ours', 'c: real'], reasons);
  t.same(unexplained, ['c: real']);
  t.same(
    [...byReason],
    [
      ['first', ['a: ours']],
      ['second', ['b: ours']],
    ],
  );
  t.same(
    stale.map(({ reason }) => reason),
    ['third'],
  );
});
