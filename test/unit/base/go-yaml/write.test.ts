import t from 'tap';
import { readGoYaml } from '../../../../lib/base/go-yaml/read.ts';
import { writeGoDocuments, writeGoYaml } from '../../../../lib/base/go-yaml/write.ts';

t.test('strings are quoted where Go would read something else', async (t) => {
  for (const [text, written] of Object.entries({
    edge: 'edge',
    '10.0.0.1': '10.0.0.1',
    '--flag=x:1': '--flag=x:1',
    no: "'no'",
    on: "'on'",
    y: "'y'",
    '~': "'~'",
    '1e3': "'1e3'",
    '0x1': "'0x1'",
    '0o7': "'0o7'",
    '0b-1': "'0b-1'",
    // Text to Go, and infinity to others.
    '12345678e1234567': "'12345678e1234567'",
    '-.5E999': "'-.5E999'",
    '22:22': "'22:22'",
    '2001-01-01': "'2001-01-01'",
    '<<': "'<<'",
    '': "''",
    '--- x': '"--- x"',
    'a\tb': '"a\\tb"',
    '  a\nb\n': '"  a\\nb\\n"',
    '-----BEGIN X-----\na\n': '|\n  -----BEGIN X-----\n  a',
  })) {
    t.equal(writeGoYaml({ a: text }), `a: ${written}\n`);
    t.same(readGoYaml(writeGoYaml({ [text]: [text] })), { [text]: [text] });
  }
});

t.test('numbers keep their size and sign', async (t) => {
  const numbers = readGoYaml('{a: 9007199254740993, b: -0.0, c: 1e21, d: 18446744073709551615}');
  t.equal(
    JSON.stringify(readGoYaml(writeGoYaml(numbers))),
    '{"a":9007199254740993,"b":-0,"c":1e+21,"d":18446744073709551615}',
  );
});

t.test(
  'long lines are not folded, undefined members are left out, nothing refers to another',
  async (t) => {
    const shared = { text: 'long '.repeat(40).trim() };
    t.equal(
      writeGoYaml({ a: shared, b: shared, c: undefined }),
      `a:\n  text: ${shared.text}\nb:\n  text: ${shared.text}\n`,
    );
    t.equal(writeGoDocuments([{ a: 1 }, { b: [] }]), 'a: 1\n---\nb: []\n');
    t.throws(() => writeGoYaml({ a: () => 1 }), /unacceptable kind/);
  },
);
