import t from 'tap';
import { expectMarked, safe } from './marked.ts';

const way = { format: 'yaml' } as const;

t.test('each value is replaced in place', async (t) => {
  const table: [input: string, expected: string][] = [
    ['password: hunter22 # b\n', 'password: "#" # b\n'],
    ["password: 'hunter22'\nb: 1\n", 'password: "#"\nb: 1\n'],
    ['a: {password: hunter22, b: [1, 0x10]}\n', 'a: {password: "#", b: [1, 0x10]}\n'],
    [
      '- password: hunter22\n- b\n- password: hunter23\n',
      '- password: "#"\n- b\n- password: "#"\n',
    ],
    ['password: 12345678\n', 'password: "#"\n'],
    ['a: 1\n---\npassword: hunter22\n', 'a: 1\n---\npassword: "#"\n'],
    ['kind: Secret\ndata:\n  a: d29yZA==\n', 'kind: Secret\ndata:\n  a: "#"\n'],
    ['args: [--password, hunter22, -b]\n', 'args: [--password, "#", -b]\n'],
    ['env:\n- {name: DB_PASSWORD, value: hunter22}\n', 'env:\n- {name: DB_PASSWORD, value: "#"}\n'],
    ['password: |\n  hunter22\nb: 1\n', 'password: "#"\nb: 1\n'],
    ['password: >-\n  hunter22\n  more\n\nb: 1\n', 'password: "#"\n\nb: 1\n'],
    [
      'file: |\n  [a]\n\n    password = hunter22\n  b = 1\nc: d\n',
      'file: |\n  [a]\n\n    password = #\n  b = 1\nc: d\n',
    ],
    ['file: "a\\npassword = hunter22\\n"\n', 'file: "a\\npassword = #\\n"\n'],
    ['? [a, b]\n: {password: hunter22}\n', '? [a, b]\n: {password: #}\n'],
    ['1: {password: hunter22}\n', '1: {password: "#"}\n'],
    ['', ''],
    ['# nothing\n', '# nothing\n'],
    ['~\n', '~\n'],
  ];
  for (const [input, expected] of table) {
    t.equal(await safe(input, way), expected, JSON.stringify(input));
    t.equal(await safe(input, { ...way, size: 5 }), expected, 'in pieces');
  }
});

t.test('invalid or oversized YAML is treated as text', async (t) => {
  await expectMarked(
    t,
    [
      'password: «hunter22»\na: [\n',
      'password: «hunter22»\n\ta: b\n',
      `password: «hunter22»\nfiller: ${'ordinary words '.repeat(20_000)}\ntoken: word\n`,
    ],
    way,
  );
});

t.test('with very many aliases, YAML is treated as text', async (t) => {
  const few = `a: &a [1]\n${'b: *a\n'.repeat(50)}password: two words\n`;
  t.equal(await safe(few, way), few.replace('two words', '"#"'));
  const many = Array.from(
    { length: 3000 },
    (_, index) => `a${index}: &a${index} [*a${index - 1}]\n`,
  );
  await expectMarked(t, [`a-1: &a-1 1\n${many.join('')}password: «hunter22»\n`], way);
});
