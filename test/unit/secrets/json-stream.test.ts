import t from 'tap';
import {
  type JsonPart,
  JsonValues,
  MAX_VALUE_BYTES,
} from '../../../lib/secrets/redact/json-values.ts';
import { expectMarked, safe } from './marked.ts';

const way = { format: 'json' } as const;

t.test('JSON keeps its form around removed values', async (t) => {
  const texts = [
    '{"password":"«hunter22»"}',
    '[{"password":"«hunter22»"},{"b":1}]\n',
    '{"a":1}\n{"password":"«hunter22»"}\nlog: words\n{"token":"«hunter22»"}\n',
    '{"a":"}","password":"«hunter22»"}{"b":"\\"{","password":"«hunter23»"}',
    '[]{}  [1,-2.5e3,true,null,"words"]\n"text" 12 null\n',
    'got password=«hunter22» is no JSON\n{"b": 1}\n',
    '{"broken": "password=«hunter22»\n{"password":"«hunter23»"}\n',
    '{"a": [1, {"b": "c"}]} trailing words\n',
    '{"a":"\\\\","password":"«hunter22»"}\n',
    '}] password=«hunter22»\n{"a":1}\n',
  ];
  await expectMarked(t, texts, way);
  await expectMarked(t, texts, { ...way, size: 1 });
  await expectMarked(t, texts, { ...way, size: 7 });
});

t.test('an indented object stays indented', async (t) => {
  const input = { a: [1], password: 'hunter22', b: {} };
  const output = { ...input, password: '#' };
  t.equal(await safe(JSON.stringify(input, null, 2), way), JSON.stringify(output, null, 2));
  t.equal(await safe(JSON.stringify(input), way), JSON.stringify(output));
});

t.test('fields mean the same in a list', async (t) => {
  const data = { user: Buffer.from('me').toString('base64') };
  const list = (kind: string, item: object) => JSON.stringify({ kind, items: [item] });
  t.equal(
    await safe(list('SecretList', { data }), way),
    list('SecretList', { data: { user: '#' }, kind: 'Secret' }),
  );
  const plain = list('ConfigMapList', { data });
  t.equal(await safe(plain, way), plain);
});

t.test('only the field kind says what is in a large list', async (t) => {
  const half = { large: 'ordinary words '.repeat(MAX_VALUE_BYTES / 28) };
  const item = { data: { user: Buffer.from('me').toString('base64') } };
  const list = (field: string) =>
    JSON.stringify({ [field]: 'SecretList', items: [half, half, item] });
  t.match((await safe(list('kind'), way)).slice(-50), '"user":"#"');
  t.match((await safe(list('type'), way)).slice(-50), '"user":"bWU="');
});

/** What is parsed as one value where a test does not need the real limit. */
const FEW_BYTES = 4000;
/** Larger than that. */
const LARGE = 'a'.repeat(FEW_BYTES + 400);

/** The values of a stream with their surrounding keys; `F` in the text is replaced by a large string. */
function valuesOf(text: string, size: number): string[] {
  const bytes = Buffer.from(text.replaceAll('F', LARGE));
  const values = new JsonValues(FEW_BYTES);
  const parts: JsonPart[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = Buffer.from(bytes.subarray(at, at + size));
    parts.push(
      ...Array.from(values.push(chunk), (part) => ({ ...part, bytes: Buffer.from(part.bytes) })),
    );
    // Like a stream that reuses its memory.
    chunk.fill('x');
  }
  parts.push(...values.end());
  const whole = Buffer.concat(parts.map((part) => part.bytes));
  if (!whole.equals(bytes)) throw new Error(`parts do not add up: ${parts.length}`);
  return parts.flatMap(({ bytes, path }) =>
    path === undefined ? [] : `${path.join('.')}=${bytes.toString().replaceAll(LARGE, 'F')}`,
  );
}

t.test('a stream is split into values that can each be parsed', async (t) => {
  const table: [text: string, values: string[]][] = [
    ['{"a":[1,{"b":2}]} \n[true]{}', ['={"a":[1,{"b":2}]}', '=[true]', '={}']],
    ['{"a":"}\\"]\\\\"}[]', ['={"a":"}\\"]\\\\"}', '=[]']],
    ['words {}\n"text"\n12 {}\n{}', ['={}']],
    ['{"a":"torn\n{"b":1}\n', ['={"b":1}']],
    ['}\n{}', ['={}']],
    [',{}\n:{}\n{}', ['={}']],
    ['{"":1}\n{"\\"":{}}', ['={"":1}', '={"\\"":{}}']],
    ['{"a":', []],
    ['{"a":"F","b":{"c":[1]}}', ['b={"c":[1]}']],
    ['{"a":1,"b":"F","c":null , "d" : -1.5e3}\n{}', ['a=1', 'c=null', 'd=-1.5e3', '={}']],
    ['{"a":[{"b":1},"F",{"c":2}],"d":"e"}{}', ['a={"b":1}', 'a={"c":2}', 'd="e"', '={}']],
    ['[["F",[1]],{"a":2}]\n[3]', ['=[1]', '={"a":2}', '=[3]']],
    [
      '{"a":{"b":{"c":{"d":1,"e":"F","f":2},"g":3},"h":4},"i":5}',
      ['a.b.c.d=1', 'a.b.c.f=2', 'a.b.g=3', 'a.h=4', 'i=5'],
    ],
    ['{"a":{"b":{"c":{"d":{"e":1,"f":"F"}}}},"g":2}{}', ['g=2', '={}']],
    ['{"F":1,"a":2}', []],
    ['["F"}{}', []],
    ['["F"}\n{}', []],
    ['{"a":{"b":"F","x":},"c":1}', ['c=1']],
    ['{"a":"F"]{}', []],
    ['{"a":["F",\n"b\nc"],"d":1}', []],
    ['{"a":1,"b":["F"', ['a=1']],
    ['{"a":1,2:"F","c":3}', ['a=1']],
  ];
  for (const [text, values] of table) {
    for (const size of [1, 100, 128]) {
      t.strictSame(valuesOf(text, size), values, `${text} ${size}`);
    }
  }
});

/** The parts of a stream that arrives in these pieces; values have their keys before them. */
function partsOf(...pieces: readonly string[]): string[] {
  return partsFrom(new JsonValues(FEW_BYTES), pieces).map((part) => part.replaceAll(LARGE, 'F'));
}

function partsFrom(values: JsonValues, pieces: readonly string[]): string[] {
  const parts = [
    ...pieces.flatMap((piece) => [...values.push(Buffer.from(piece))]),
    ...values.end(),
  ];
  return parts.map(({ bytes, path }) => {
    const text = bytes.toString();
    return path === undefined ? text : `${path.join('.')}=${text}`;
  });
}

t.test('only what is not whole waits for the next piece', async (t) => {
  t.strictSame(partsOf(), []);
  t.strictSame(partsOf('{}'), ['={}']);
  t.strictSame(partsOf(' [] \n', 'words\n', '{"a', '":1} '), [
    ' ',
    '=[]',
    ' \n',
    'words\n',
    '={"a":1}',
    ' ',
  ]);
  t.strictSame(partsOf('{"a', '":'), ['{"a":'], 'the end of the stream');
  t.strictSame(
    partsOf(`{"":1,"a":"${LARGE}\\`, '"","b":2}{}'),
    ['{', '""', ':', '=1', ',', '"a"', ':', '"F\\', '""', ',', '"b"', ':', 'b=2', '}', '={}'],
    'split within an escape',
  );
});

t.test('a value is whole up to two mebibytes', async (t) => {
  const text = (length: number) => `["${'a'.repeat(length - 3)}"`;
  const parts = (...pieces: readonly string[]) => partsFrom(new JsonValues(), pieces);
  const largest = text(2 * 1024 * 1024);
  t.ok(parts(largest, ']').join() === `=${largest}]`);
  const larger = text(2 * 1024 * 1024 + 1);
  t.ok(parts(larger, ']').join() === `[,=${larger.slice(1)},]`);
});

t.test('parts of a large document are redacted with their context', async (t) => {
  const large = 'ordinary words '.repeat(MAX_VALUE_BYTES / 13);
  const secret = '{"kind":"Secret","data":{"a":"«d29yZA==»"}}';
  await expectMarked(
    t,
    [
      `{"kind":"List","filler":"${large}","items":[${secret}],"password":"«hunter22»"}\n`,
      `{"a":{"kind":"SecretList"},"filler":"${large}","items":[{"data":{"a":"d29yZA=="}}]}`,
    ],
    way,
  );
  const data = '{"data":{"a":"d29yZA=="}}';
  const list = `{"kind":"SecretList","items":["${large}",${data}],"other":${data}}`;
  const expected = `,{"kind":"Secret","data":{"a":"#"}}],"other":${data}}`;
  t.ok((await safe(list, way)).endsWith(expected), 'items of the list alone');
});

t.test('a truncated document is treated as text', async (t) => {
  for (const text of ['{"a":1,"password":"«hunter22»', '["password=«hunter22»', '{"a":', '{']) {
    await expectMarked(t, [text], way);
    await expectMarked(t, [text], { ...way, size: 1 });
  }
});
