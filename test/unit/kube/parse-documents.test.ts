import t from 'tap';
import { parseDocuments } from '../../../lib/kube/parse-documents.ts';

const options = { version: '1.1', prettyErrors: false } as const;

const values = (text: string) =>
  parseDocuments(text, options).documents.map((document) => {
    t.same(document.errors, [], text);
    return document.toJS();
  });

t.test('quoted lines that are indented like their key', async (t) => {
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
    ['two of them', 'a: \'one\ntwo\'\nb: "x\ny"\n', { a: 'one two', b: 'x y' }],
    ['line ends of DOS', "a: 'one\r\ntwo'\r\nb: 1\r\n", { a: 'one two', b: 1 }],
    ['indented as YAML demands', "a: 'one\n  two'\n", { a: 'one two' }],
  ] as const) {
    t.same(values(text), [expected], name);
  }
});

t.test('in a later document; lines are counted as in the text', async (t) => {
  const { documents, lines } = parseDocuments("a: 1\n---\nb: 'one\ntwo'\nc:\n  d: 1\n", options);
  t.same(
    documents.map((document) => document.toJS()),
    [{ a: 1 }, { b: 'one two', c: { d: 1 } }],
  );
  t.equal(lines.linePos(documents[1]?.contents?.range?.[0] ?? -1).line, 3);
});

t.test('what is wrong stays an error', async (t) => {
  for (const text of [
    "a: 'never\nclosed\n",
    'a: "never\nclosed\n',
    "a: 'one\ntwo' three\nb: 1\n",
    'a: [1\nb: 2\n',
    "a: 'x\n---\nb: y'\n",
  ]) {
    const { documents } = parseDocuments(text, options);
    t.ok(
      documents.some(({ errors }) => errors.length > 0),
      text,
    );
  }
});
