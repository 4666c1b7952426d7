import t from 'tap';
import { readGoDocuments, readGoYaml } from '../../../../lib/base/go-yaml/read.ts';

const values = (text: string) =>
  readGoDocuments(text).map((document) =>
    'fault' in document ? `${document.line}: ${document.fault}` : document.value,
  );

t.test('scalars', async (t) => {
  for (const [text, json] of Object.entries({
    e2: '"e2"',
    '.': '"."',
    '12e4567': '"12e4567"',
    '0o644': '420',
    '0644': '420',
    '0888': '888',
    '0b-1': '-1',
    '1_000': '1000',
    '1e3': '1000',
    '-0.0': '-0',
    '.5_0': '0.5',
    '9007199254740993': '9007199254740993',
    '-9223372036854775808': '-9223372036854775808',
    '18446744073709551615': '18446744073709551615',
    '18446744073709551616': '18446744073709552000',
    y: 'true',
    Off: 'false',
    NULL: 'null',
    '2001-02-03': '"2001-02-03"',
    '22:22': '"22:22"',
    "'no'": '"no"',
    '!!str 1': '"1"',
    '!!int "0x1F"': '31',
    '!!float 1': '1',
    '!!binary aGk=': '"hi"',
    '!!binary 4oI=': '"\ufffd\ufffd"',
    '!local 1': '"1"',
  })) {
    t.equal(JSON.stringify(readGoYaml(`a: ${text}`)), `{"a":${json}}`, text);
  }
});

t.test('keys', async (t) => {
  for (const [key, json] of Object.entries({
    '0x10': '"16"',
    on: '"true"',
    '1.5': '"1.5"',
    '1e6': '"1e+06"',
    '123456789.5': '"1.2345679e+08"',
    '0.00001': '"1e-05"',
    '.inf': '".inf"',
    __proto__: '"__proto__"',
  })) {
    t.equal(JSON.stringify(readGoYaml(`${key}: 1`)), `{${json}:1}`, key);
  }
});

t.test('merges take effect where they are written', async (t) => {
  const merged = (pairs: string) => readGoYaml(`- &x {a: 1, b: 1}\n- &y {a: 2}\n- ${pairs}`);
  t.match(merged('{<<: *x, a: 3}'), [{}, {}, { a: 3, b: 1 }]);
  t.match(merged('{a: 3, <<: *x}'), [{}, {}, { a: 1, b: 1 }]);
  t.match(merged('{<<: [*y, *x]}'), [{}, {}, { a: 2, b: 1 }]);
});

t.test('JSON is read with the rules of JSON only', async (t) => {
  t.same(readGoYaml('{"a": "\\ud83d\\ude00\\/\u2028"}'), { a: '😀/\u2028' });
  t.same(values('a: "\\ud83d\\ude00"'), ['1: the escape \\ud83d is unknown']);
});

t.test('what go-yaml refuses, or would lose without a word', async (t) => {
  for (const [text, line, fault] of [
    ['a: 1\nb: .nan', 2, /no such number/],
    ['a: !!int x', 1, /cannot be read as !!int/],
    ['a: !!binary x', 1, /not base64/],
    ['~: 1', 1, /no such key/],
    ['a: 1\nb: 2\na: 3', 3, /unique/],
    ['1: a\n"1": b', 2, /unique/],
    ['a: &a [*a]', 1, /contains itself/],
    ['a: *b', 1, /unknown alias \*b/],
    ['a: {<<: 1}', 1, /<< needs a map/],
    ['a: \u0001', 1, /control character/],
    ['a: x\u2028y', 1, /line breaks/],
    ['%YAML 1.2\n---\na: 1', 1, /must be 1\.1/],
    ['%FOO\n---\na: 1', 1, /unknown directive/],
    ['a: 1\n\t# comment', 2, /a tab is no indentation/],
    ['a: |\n  \ttext', 2, /a tab is no indentation/],
    ['a: [http://b?c]', 1, /must be quoted/],
    ['a: [b:]', 1, /must be quoted/],
    ['a: &b.c d', 1, /an anchor has/],
    ['a: &b c: d', 1, /on the line of its key/],
    ['a: {b\n : c}', 1, /must be on one line/],
    [`${'k'.repeat(1025)}: 1`, 1, /more than 1024/],
    ['a: [1]\n]', 2, /end of the stream/],
    ['--- |\ntext', 2, /must be indented/],
  ] as const) {
    const [document] = readGoDocuments(text);
    t.match(document, { line, fault }, fault.source);
  }
});

t.test('lines that are indented by too little in quotes and brackets', async (t) => {
  for (const [name, text, expected] of [
    [
      'single quotes',
      'a:\n  b: \'one\n  two "x"\n  three\'\n  c: 1\n',
      { a: { b: 'one two "x" three', c: 1 } },
    ],
    [
      'double quotes',
      'a:\n  b: "one\n  two\\"\n  three"\n  c: 1\n',
      { a: { b: 'one two" three', c: 1 } },
    ],
    ['at the top', "a: 'one\ntwo'\nb: 1\n", { a: 'one two', b: 1 }],
    ['less than the key', "a:\n  b: 'one\n two'\n", { a: { b: 'one two' } }],
    ['in a sequence', "a:\n- - b: 'one\n  two'\n    c: 1\n", { a: [[{ b: 'one two', c: 1 }]] }],
    ['an empty line is a line break', "a: 'one\n\ntwo''s'\nb: 1\n", { a: "one\ntwo's", b: 1 }],
    ['an escaped line break', 'a: "one\\\ntwo"\nb: 1\n', { a: 'onetwo', b: 1 }],
    ['a quote on a line of its own', 'a: "one\ntwo\n"\nb: 1\n', { a: 'one two ', b: 1 }],
    ['two of them', 'a: \'one\ntwo\'\nb: "x\ny"\n', { a: 'one two', b: 'x y' }],
    ['line ends of DOS', "a: 'one\r\ntwo'\r\nb: 1\r\n", { a: 'one two', b: 1 }],
    ['indented as YAML demands', "a: 'one\n  two'\n", { a: 'one two' }],
    ['a tab', 'a: "one\n\ttwo"\n', { a: 'one two' }],
    ['brackets', 'a:\n  b: [\n    1, 2,\n  ]\n  c: 1\n', { a: { b: [1, 2], c: 1 } }],
    [
      'braces',
      'a: {\nb: "x]\ny", # {\nc: [1,\n2]\n}\nd: 1\n',
      { a: { b: 'x] y', c: [1, 2] }, d: 1 },
    ],
    ['far to the right', `${'- '.repeat(40)}a: [\n1]\n`, undefined],
    ['tabs in brackets', 'a: [\t1,\n\t2]\n', { a: [1, 2] }],
    ['a comment without a blank', 'a: [1]# one\nb: "2"# two\n', { a: [1], b: '2' }],
    ['an escaped quote', 'a: "it\\\'s"\n', { a: "it's" }],
  ] as const) {
    if (expected === undefined) t.notMatch(values(text), [/:/], name);
    else t.same(values(text), [expected], name);
  }
});

t.test('what is wrong there stays an error', async (t) => {
  for (const text of [
    "a: 'never\nclosed\n",
    'a: "never\nclosed\n',
    "a: 'one\ntwo' three\nb: 1\n",
    'a: [1\nb: 2\n',
    "a: 'x\n...\ny'\n",
    'a: {b: [1\n}\n',
  ]) {
    t.match(readGoDocuments(text), [{ fault: String }], text);
  }
  t.match(values("a: 'x\n---\nb: y'\n"), [/^1: unexpected end/, { b: "y'" }]);
});

t.test('documents, each with the line of its content', async (t) => {
  t.same(readGoDocuments("# one\na: 1\n---\nb: 'one\ntwo'\nc:\n  d: 1\n---\n---\n\n- x\n"), [
    { line: 2, value: { a: 1 } },
    { line: 4, value: { b: 'one two', c: { d: 1 } } },
    { line: 8, value: null },
    { line: 11, value: ['x'] },
  ]);
  t.same(values('# nothing\n'), []);
  t.same(values('%YAML 1.1\n---\na: 0o7\n--- # b\n- no\n'), [{ a: 7 }, [false]]);
  t.same(values('a: |\n  x'), [{ a: 'x' }], 'a text that ends the file ends without a line break');
  t.match(values('a: [\n---\nb: 1'), [/^1: /, { b: 1 }], 'a fault costs its document only');
  t.throws(() => readGoYaml('a: 1\n---\nb: 1'), { message: /^line 3: .* more than one/ });
  t.throws(() => readGoYaml('a: 1\nb: ['), { message: /^line 2: / });
  t.equal(readGoYaml(''), null);
});
