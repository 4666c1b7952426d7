import t from 'tap';
import { expectMarked, safe } from './marked.ts';

t.test('Secrets in one line', async (t) => {
  await expectMarked(t, [
    '{"apiVersion":"v1","data":{"a":"«d29yZA==»","b.c":"«d29yZDI=»"},"kind":"Secret","type":"b"}',
    '{"apiVersion":"v1","kind":"Secret","data":{"a":"«d29yZA==»"},"metadata":{"data":{"a":"b"}}}',
    'got {"kind": "Secret", "metadata": {"name": "x"}, "data": {"a": "«d29yZA==»"}} words',
    'got {\\"kind\\":\\"Secret\\",\\"data\\":{\\"a\\":\\"«d29yZA==»\\"}} words',
    '"{\\\\\\"data\\\\\\":{\\\\\\"a\\\\\\":\\\\\\"«d29yZA==»\\\\\\"},\\\\\\"kind\\\\\\":\\\\\\"Secret\\\\\\"}" b',
    "{'kind': 'Secret', 'data': {'a': '«d29yZA==»', 'b': '«d29yZA==»'}}",
    'x: {kind: Secret, data: {a: «d29yZA==», b: «d29yZA==»}, type: Opaque}',
    'x: {kind: "Secret", stringData: {a: «two words», b: "«two words»"}}',
    '{"stringData":{"a":"«word»"},"metadata":{"name":"x"}}',
    '{"kind":"Secret","data":{"a":"","b":null},"stringData":{"c":"«wor\\"d»"}}',
    '{"kind":"Secret","data":{"a":"«d29yZA==»","b":"«d29y»',
    // Lists, and other objects beside them.
    '{"items":[{"kind":"Pod","data":{"a":"word"}},{"data":{"a":"«d29yZA==»"},"kind":"Secret"}]}',
    '{"kind":"SecretList","items":[{"data":{"a":"«d29yZA==»"}},{"data":{"a":"«d29yZA==»"}}]}',
    '{"kind":"Event","responseObject":{"kind":"Secret","data":{"a":"«d29yZA==»"}},"data":{"a":"word"}}',
    '{"kind":"Secret","metadata":{"managedFields":[{"fieldsV1":{"f:data":{"f:a":{},"f:b":{}}}}]},"data":{"a":"«d29yZA==»"}}',
    // As Go prints them.
    '&Secret{ObjectMeta:{x  b 0},Data:map[string][]uint8{a: [«119 111»],tls.key: [«119 111 114 100»],},Type:Opaque,StringData:map[string]string{c: «word»,},Immutable:nil,}',
    '{TypeMeta:{Kind:Secret APIVersion:v1} ObjectMeta:{Name:x} Data:map[a:[«119 111»] b:[«119»]] StringData:map[] Type:b}',
    '{TypeMeta:{Kind:Secret APIVersion:v1} ObjectMeta:{Name:x} Data:map[a:[«119 111»]] Type:b}',
    '{TypeMeta:{Kind: APIVersion:} ObjectMeta:{Name:x} Data:map[a:[«119 111»]] StringData:map[c:«two words» d:«word»] Type:b}',
    '*v1.Secret{Data:map[string][]uint8{"a":[]uint8{«0x77, 0x6f»}}, Type:"b"}',
    'v1.SecretList{Items:[]v1.Secret{v1.Secret{Data:map[string][]uint8{"a":[]uint8{«0x77»}}}}}',
  ]);
});

t.test('what is no Secret stays', async (t) => {
  await expectMarked(t, [
    '{"kind":"ConfigMap","data":{"a":"word"}}',
    '{"kind":"Pod","spec":{"secret":{"data":{"a":"word"}}}}',
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
    'kind: Secret\ndata: {a: Y29ycmVjdA==}\n',
  ].join('\n');
  const marks = (await safe(text, { marks: true })).match(/<redacted:\w+>/g);
  t.equal(marks?.length, 4);
  t.equal(new Set(marks).size, 1);
});

t.test('brackets without end take no more time than others', async (t) => {
  const line = `{"kind":"Secret",${'{"data":['.repeat(100_000)}\n`;
  t.ok((await safe(line)) === line);
});
