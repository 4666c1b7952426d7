import t from 'tap';
import { type ValueExtent, valueAt, wholeEnd } from '../../../lib/secrets/redact/value-extent.ts';

/** The line, with `«»` around the value that begins after its first `=`; and what is known of it. */
function valueIn(line: string, extent: ValueExtent) {
  const read = valueAt(line, line.indexOf('=') + 1, extent);
  if (read === undefined) return [line];
  const { value, ...known } = read;
  const marked = [line.slice(0, value.start), line.slice(value.start, value.end)].join('«');
  return [`${marked}»${line.slice(value.end)}`, known];
}

const quoted = { isQuoted: true };
const plain = { isQuoted: false };
const cut = { isQuoted: true, isCut: true };

t.test('a value in quotes goes to the closing one', (t) => {
  const rows: [marked: string, known: object][] = [
    ['p="«a b; c»" d', quoted],
    ['p=\'«a "b" c»\' d', quoted],
    ['p=`«a b»` d', quoted],
    ['p="«»" d', quoted],
    ['p="«a \\" b»" d', quoted],
    ['p="«a \\\\»" d', quoted],
    ['p=\\"«a b»\\" d" e', quoted],
    ['p=\\"«a \\\\\\" b»\\" d', quoted],
    ['p=\\\\\\"«a b»\\\\\\" d', quoted],
    ['p=\\"«»\\" d', quoted],
    ['p="«a b»', cut],
    ['p="«»', cut],
    ['p=\\"«a b" c»', cut],
    ["p='«it'\\''s»' b", quoted],
    ["p='«it'\\''»' b", quoted],
    ["p=\\'«a'»\\''b\\' c", quoted],
    ["p=\"«a'\\''b»\" c", quoted],
    // After a tag, an anchor, a prefix or a constructor.
    ['p=!!str "«a b»" c', quoted],
    ['p=&x !!str «a» c', plain],
    ['p=Some("«a b»") c', quoted],
    ['p=["«a b»"] c', quoted],
    ['p=[«a», b]', plain],
    // Bytes.
    ['p=[«1, 2, 3, 4»] b', quoted],
    ['p=[]byte{«0x1, 0x2, 0x3, 0xff»} b', quoted],
    ['p=[«1», 2, 3] b', plain],
  ];
  for (const [marked, known] of rows) {
    const line = marked.replace(/[«»]/g, '');
    t.strictSame(valueIn(line, 'word'), [marked, known], line);
  }
  t.end();
});

t.test('a value without quotes goes to the end of its extent', (t) => {
  const rows: [marked: string, extent: ValueExtent][] = [
    ['p=«a» b', 'word'],
    ['p=«a»', 'word'],
    ['p=«a;b»; c', 'word'],
    ['p=«a»,"b', 'word'],
    ['p=«a»\\nb', 'word'],
    ['p=«a\\b» c', 'word'],
    ['p=«a b; c, d»', 'line'],
    ['p=«a b»; q=c', 'line'],
    ['p=«a b» # c', 'line'],
    ['p=«a b» |', 'line'],
    ['p=«a»\u001b[0m b', 'line'],
    ['p=«a b»\0c', 'argument'],
    ['p=«a b» Port:80}', 'field'],
    ['p=«a b»}', 'field'],
    // Without a next field it is a word.
    ['p=«a» b', 'field'],
    ["p=«a b»' c", { quote: "'" }],
    ['p=«a b»', { quote: "'" }],
    ['p=«a b»" c', { quote: '"' }],
    ['p=«a b»\\" c', { quote: '"' }],
    ['p=«a b»\\nc', { quote: '"' }],
    [`p=«${'a'.repeat(1024)}»a b`, 'word'],
    [`p=«${'a'.repeat(1025)} b»`, 'line'],
    [`p=«${'a'.repeat(1024)}»a Port:80}`, 'field'],
    [`p=«${'a'.repeat(2048)}»a b`, 'argument'],
    [`p=«${'a'.repeat(2048)}»a b`, { quote: '"' }],
  ];
  for (const [marked, extent] of rows) {
    const line = marked.replace(/[«»]/g, '');
    t.strictSame(valueIn(line, extent), [marked, plain], line);
  }
  t.end();
});

t.test('no value', (t) => {
  for (const line of ['p=', 'p= a', 'p=)', 'p=]', 'p=}', 'p=;', 'p=&', 'p=,', 'p=<']) {
    t.strictSame(valueIn(line, 'line'), [line], line);
  }
  for (const line of ['p=\\n', 'p={a: b}', 'p=[]', 'p=getenv("A")', "p=lookup('b')"]) {
    t.strictSame(valueIn(line, 'word'), [line], line);
  }
  t.strictSame(valueIn('p={{ .A }}', 'word'), ['p=«{{» .A }}', plain]);
  t.strictSame(valueIn('p={SSHA}a b', 'word'), ['p=«{SSHA}a» b', plain]);
  t.end();
});

t.test('the end of a word of which only the beginning was read', (t) => {
  const line = `p=${'a'.repeat(1500)} b`;
  t.equal(wholeEnd(line, { start: 2, end: 1026 }), 1502);
  t.equal(wholeEnd(line, { start: 2, end: 1025 }), 1025);
  t.equal(wholeEnd(line, { start: 2, end: 1027 }), 1027);
  t.equal(wholeEnd(' '.repeat(2000), { start: 2, end: 1026 }), 1026);
  t.end();
});
