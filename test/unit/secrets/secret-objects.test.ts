import t from 'tap';
import { redactorWith } from '../../../lib/secrets/redact/redactor.ts';
import { expectMarked, safe } from './marked.ts';
import { redacted } from './streams.ts';

t.test('Secrets in one line', async (t) => {
  await expectMarked(t, [
    '{"apiVersion":"v1","data":{"a":"«d29yZA==»","b.c":"«d29yZDI=»"},"kind":"Secret","type":"b"}',
    '{"apiVersion":"v1","kind":"Secret","data":{"a":"«d29yZA==»"},"metadata":{"data":{"a":"b"}}}',
    'got {"kind": "Secret", "metadata": {"name": "x"}, "data": {"a": "«d29yZA==»"}} words',
    'got {\\"kind\\":\\"Secret\\",\\"data\\":{\\"a\\":\\"«d29yZA==»\\"}} words',
    '"{\\\\\\"data\\\\\\":{\\\\\\"a\\\\\\":\\\\\\"«d29yZA==»\\\\\\"},\\\\\\"kind\\\\\\":\\\\\\"Secret\\\\\\"}" b',
    "{'kind': 'Secret', 'data': {'a': '«d29yZA==»', 'b': '«d29yZA==»'}}",
    'x: {kind: Secret, data: {a: «d29yZA==», b: «d29yZA==»}, type: Opaque}',
    'x: {kind: "Secret", stringData: {a: «word», b: "«two words»"}}',
    '{"stringData":{"a":"«word»"},"metadata":{"name":"x"}}',
    '{"kind":"Secret","data":{"a":"","b":null},"stringData":{"c":"«wor\\"d»"}}',
    '{"kind":"Secret","data":{"a":"«d29yZA==»","b":"«d29y»',
    '{"data":{"a":"«d29yZA==»"},"kind":"Secret"',
    '{"kind":"Secret","data":{"a":"«w1»","b":{"kind":"«Secret»","data":{"c":"«w2»"}},"d":"«w3»"}}',
    '{"KIND":"secret","DATA":{"a":"«d29yZA==»"}}',
    '}]{"kind":"Secret","data":{"a":"«d29yZA==»"}}',
    '[[[]]}{}{"kind":"Secret","data":{"a":"«d29yZA==»"}}',
    '{"metadata":{"x":[{}]},"data":{"a":"«d29yZA==»"},"type":"b","kind":"Secret"}',
    // Lists, and other objects beside them.
    '{"items":[{"kind":"Pod","data":{"a":"word"}},{"data":{"a":"«d29yZA==»"},"kind":"Secret"}]}',
    '{"kind":"SecretList","items":[{"data":{"a":"«d29yZA==»"}},{"data":{"a":"«d29yZA==»"}}]}',
    '{"kind":"Event","responseObject":{"kind":"Secret","data":{"a":"«d29yZA==»"}},"data":{"a":"word"}}',
    '{"kind":"Secret","metadata":{"managedFields":[{"fieldsV1":{"f:data":{"f:a":{},"f:b":{}}}}]},"data":{"a":"«d29yZA==»"}}',
    '{"kind":"SecretList","items":[{"kind":"Secret","data":{"a":"«w»"}},{"data":{"a":"«w»"}}',
    '{"kind":"SecretList","items":[{"metadata":{"x":{"data":{"a":"«w»"}}}}]} {"data":{"a":"w"}}',
    // As Go prints them.
    '&Secret{ObjectMeta:{x  b 0},Data:map[string][]uint8{a: [«119 111»],tls.key: [«119 111 114 100»],},Type:Opaque,StringData:map[string]string{c: «word»,},Immutable:nil,}',
    '{TypeMeta:{Kind:Secret APIVersion:v1} ObjectMeta:{Name:x} Data:map[a:[«119 111»] b:[«119»]] StringData:map[] Type:b}',
    '{TypeMeta:{Kind:Secret APIVersion:v1} ObjectMeta:{Name:x} Data:map[a:[«119 111»]] Type:b}',
    '{TypeMeta:{Kind: APIVersion:} ObjectMeta:{Name:x} Data:map[a:[«119 111»]] StringData:map[c:«words» d:«word»] Type:b}',
    '*v1.Secret{Data:map[string][]uint8{"a":[]uint8{«0x77, 0x6f»}}, Type:"b"}',
    'v1.SecretList{Items:[]v1.Secret{v1.Secret{Data:map[string][]uint8{"a":[]uint8{«0x77, 0x6f»}}}}}',
  ]);
});

t.test('what is no Secret stays', async (t) => {
  await expectMarked(t, [
    '{"kind":"ConfigMap","data":{"a":"word"}}',
    '{"kind":"Pod","spec":{"secret":{"data":{"a":"word"}}}}',
    '{"kind":"Secret","type":{"data":{"a":"word"}}}',
    '{"kind":"Secret","other":{"a":"word"},"metadata":{"b":"word"}}',
    '{"kind":"Secret","a:data":{"a":"word"},"mydata":{"b":"word"},"x.data":{"c":"word"}}',
    '{"kind":"Secrets","data":{"a":"word"}}',
    '{"kind":["Secret"],"data":{"a":"word"}}',
    '{"kinds":"Secret","data":{"a":"word"}}',
    '{TypeMeta:{Kind:ConfigMap APIVersion:v1} ObjectMeta:{Name:Secret} Data:map[a:word]}',
    '{ObjectMeta:{Kind:Secret} Data:map[a:word]}',
    '{TypeMeta:{Kind:ConfigMap} Data:map[a:word]} {TypeMeta:{Kind:Secret}}',
    'Event(v1.ObjectReference{Kind:"Secret", Namespace:"a", Name:"b"}): type: \'Normal\' data:{a:b}',
    '{"kind":"SecretProviderClass","data":{"a":"word"}}',
    '{"kind":"Secret","metadata":{"name":"word","annotations":{"a":"b"}},"type":"Opaque"}',
    '{"kind":"Secret","metadata":{"name":"x"}} {"data":{"a":"word"}}',
    'the kind is secret: data: word',
    'secret{}',
  ]);
});

t.test('the mark is that of the value, encoded or not', async (t) => {
  const text = [
    '{"kind":"Secret","data":{"a":"Y29ycmVjdA=="}}',
    '{"kind":"Secret","stringData":{"a":"correct"}}',
    'password=correct',
    'kind: Secret\ndata:\n  a: Y29ycmVjdA==\n',
  ].join('\n');
  const marks = (await safe(text, { marks: true })).match(/<redacted:\w+>/g);
  t.equal(marks?.length, 4);
  t.equal(new Set(marks).size, 1);
});

/** The values that are marked in a line, with what they stand for. */
async function found(text: string) {
  const seen: string[] = [];
  const of = (secret: string, certainty?: string) => {
    if (certainty === 'possible') seen.push(secret);
    return '<redacted>';
  };
  await redacted(redactorWith({ of }, []).text, Buffer.from(text));
  return seen;
}

t.test('each value is found once, with what it stands for', async (t) => {
  const table: [text: string, secrets: string[]][] = [
    [
      '{"kind":"Secret","data":{"a":"d29yZA==","b":"???"},"stringData":{"c":"d29yZA=="}}',
      ['word', '???', 'd29yZA=='],
    ],
    ['{"kind":"Secret","stringData":{"a":"b: c, d: e"}}', ['b: c, d: e']],
    ['{"stringData":{"a":{"stringData":{"b":"c"', ['c']],
    ['{"kind":"SecretList","stringData":{"a":"b"}}', ['b']],
    ['{"kind":"SecretList","items":{"stringData":{"a":"b"}}}', ['b']],
    ['{"kind":"ConfigMap","data":{"a":"b"}}', []],
    ['no object', []],
  ];
  for (const [text, secrets] of table) t.strictSame([...new Set(await found(text))], secrets, text);
});
