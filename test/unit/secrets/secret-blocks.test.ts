import t from 'tap';
import { createRedactor } from '../../../lib/secrets/redact/redactor.ts';
import { expectMarked } from './marked.ts';
import { redacted } from './streams.ts';

const { text } = createRedactor(Buffer.alloc(32, 1), []);
const safe = async (input: string) =>
  (await redacted(text, Buffer.from(input))).toString().replace(/<redacted:\w+>/g, '#');

t.test('Secrets printed over many lines', async (t) => {
  const table: Record<string, [input: string, expected: string]> = {
    'the kind before the data': [
      'kind: Secret\ndata:\n  a: word\n  b: word\ntype: Opaque\n',
      'kind: Secret\ndata:\n  a: #\n  b: #\ntype: Opaque\n',
    ],
    'the kind after the data': [
      'data:\n  a: word\nkind: Secret\n',
      'data:\n  a: #\nkind: Secret\n',
    ],
    'plain data': [
      'kind: Secret\nstringData:\n  a: two words\n',
      'kind: Secret\nstringData:\n  a: #\n',
    ],
    'a value in quotes': ['kind: Secret\ndata:\n  a: "word"\n', 'kind: Secret\ndata:\n  a: "#"\n'],
    'a block of lines': [
      'kind: Secret\nstringData:\n  a: |\n    one\n    two\n',
      'kind: Secret\nstringData:\n  a: |\n    #\n    #\n',
    ],
    'after a prefix of a log': [
      'log: kind: Secret\nlog: data:\nlog:   a: word\n',
      'log: kind: Secret\nlog: data:\nlog:   a: #\n',
    ],
    'in JSON': [
      '{\n  "data": {\n    "a": "word",\n    "b": "word"\n  },\n  "kind": "Secret"\n}\n',
      '{\n  "data": {\n    "a": "#",\n    "b": "#"\n  },\n  "kind": "Secret"\n}\n',
    ],
    'one object after another': [
      'apiVersion: v1\ndata:\n  a: word\nkind: ConfigMap\n---\napiVersion: v1\ndata:\n  a: word\nkind: Secret\n',
      'apiVersion: v1\ndata:\n  a: word\nkind: ConfigMap\n---\napiVersion: v1\ndata:\n  a: #\nkind: Secret\n',
    ],
    'a ConfigMap after a Secret': [
      'kind: Secret\ndata:\n  a: word\n---\nkind: ConfigMap\ndata:\n  a: word\n',
      'kind: Secret\ndata:\n  a: #\n---\nkind: ConfigMap\ndata:\n  a: word\n',
    ],
  };
  for (const [name, [input, expected]] of Object.entries(table)) {
    t.equal(await safe(input), expected, name);
  }
});

t.test('text that is not a Secret is kept', async (t) => {
  for (const ordinary of [
    'kind: ConfigMap\ndata:\n  a: word\n',
    'data:\n  a: word\nkind: ConfigMap\n',
    'data:\n  a: word\n',
    'data:\n  a: word\n---\nkind: Secret\n',
    'kind: SecretProviderClass\ndata:\n  a: word\n',
    'kind: Secret\nmetadata:\n  a: word\n',
    'kind: Secret\ndata: none\n',
  ]) {
    t.equal(await safe(ordinary), ordinary);
  }
});

t.test('which lines belong to a Secret', async (t) => {
  await expectMarked(t, [
    '- apiVersion: v1\n  data:\n    a: «word»\n  kind: Secret\n- apiVersion: v1\n  data:\n    a: word\n  kind: Pod\n',
    '- apiVersion: v1\n  data:\n    a: word\n  kind: Pod\n- apiVersion: v1\n  data:\n    a: «word»\n  kind: Secret\n',
    'data:\n  a: «word»\nmetadata:\n  name: b\nkind: Secret\nother: c\n',
    'stringData:\n  a: «word»\n  b: «two words»\nmetadata: {}\nkind: Secret\n',
    'kind: Secret\nmetadata:\n  name: b\ndata:\n  a: «word»\n  b.c-d_e: «word»\nmetadata: b\n',
    'kind: Secret\ndata:\n  a: "«word»",\n  b: \'«word»\'\n',
    'kind: Secret\nstringData:\n  a: |-\n    «one»\n  b: >\n    «two»\n  c: []\n  d: {}\n',
    '"kind": "Secret",\n"data": {\n  "a": "«word»"\n},\n"other": "word"\n',
    '"kind" : "Secret",\n"data" : {\n  "a" : "«word»"\n}\n',
    "'kind': 'Secret',\n'data': {\n  'a': '«word»'\n}\n",
    '"kind": "Secret"\n"data":\n  "a": "«word»"\n',
    "'kind': Secret\n'data':\n  'a': «word»\n",
    '"data": {\n  "a": "word"\n},\n"data": {\n  "a": "«word»"\n},\n"kind": "Secret"\n',
    'kind: Secret # b\ndata: \n  a: «word»\n  b: null\n  c: ""\n  d: ,\n',
    'kind: Secret\ndata:\n  a: «a»\n  b: «a: b»\n',
    'kind:        Secret\ndata:\n  a: «word»\n',
    'kind:         Secret\ndata:\n  a: word\n',
    'kind:Secret\ndata:\n  a: word\n',
    'data:\n  a: word\nxkind: Secret\n',
    'kind: Secret\nstringData:\n  a:        «word»\n  «b:word»\n  - c: «word»\n  "d" : «word»\n',
    'data: {a: word}\nkind: Pod\n',
    'kind: Secret\ndata: [a]\n  b: word\n',
    'kind: Secret\ndata:\n\n  a: word\n',
    'data:\n  a: word\n\nkind: Secret\n',
    'data:\n  a: word\ndata:\n  a: «word»\nkind: Secret\n',
    '  kind: Secret\ndata:\n  a: word\n',
    'kind: Secret\n  data:\n    a: word\n',
    'kind: Secret b\ndata:\n  a: word\n',
    'metadata:\n  a: word\nkind: Secret\n',
    'apiVersion:\n  a: word\nkind: Secret\n',
    'kind: Secret\ndata: word\n  a: word\n',
    `kind: Secret\n${'w'.repeat(500)} data:\n  a: word\n`,
  ]);
});

t.test('no Secret is larger than 64 KiB', async (t) => {
  const line = (text: string) => `${text.padEnd(63)}\n`;
  const inside = line('  a: word').replace('word', '«word»');
  const data = `${inside.repeat(1022)}${line('  a: word').repeat(9)}`;
  await expectMarked(t, [`kind: Secret\n${line('data:')}${data}type: b\n`]);
});

t.test('a Secret may cross blocks of the stream', async (t) => {
  const filler = `${'ordinary words '.repeat(4)}\n`.repeat(1074);
  const before = 'apiVersion: v1\nkind: Secret\ndata:\n  a: «word»\n  b: «word»\ntype: b\n';
  const after = 'apiVersion: v1\ndata:\n  a: «word»\n  b: «word»\nkind: Secret\ntype: b\n';
  for (const secret of [before, after]) {
    for (let skip = 0; skip < 7; skip++) {
      await expectMarked(t, [`${filler.slice(61 * skip)}${secret}${filler}`], { size: 61 });
    }
  }
});

t.test('only what can still change is held back', async (t) => {
  const words = `${'ordinary words '.repeat(4)}\n`.repeat(2000);
  const texts = [
    'kind: Secret\ndata:\n  a: word\ntype: b\n',
    'kind: Pod\ndata:\n  a: word\n\n',
    `${Buffer.from('ordinary words and more of them').toString('base64')}\n`,
  ];
  for (const secret of texts) {
    let behind = 0;
    let most = 0;
    async function* stream() {
      for (const part of [secret, ...Array.from({ length: 8 }, () => words)]) {
        behind += part.length;
        yield Buffer.from(part);
      }
    }
    for await (const chunk of text(stream())) {
      most = Math.max(most, behind);
      behind -= chunk.length;
    }
    t.ok(most < 4 * words.length, `${most} of ${8 * words.length} bytes`);
  }
});

t.test('a value has the mark of what it stands for', async (t) => {
  const marksOf = async (input: string) =>
    (await redacted(text, Buffer.from(input))).toString().match(/<redacted:\w+>/g);
  const value = Buffer.from('hunter22').toString('base64');
  const [named] = (await marksOf('password=hunter22\n')) ?? [];
  t.ok(named);
  t.strictSame(await marksOf(`kind: Secret\ndata:\n  a: ${value}\n`), [named], 'data is encoded');
  t.strictSame(await marksOf('kind: Secret\nstringData:\n  a: hunter22\n'), [named]);
});
