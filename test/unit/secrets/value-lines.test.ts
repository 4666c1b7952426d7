import t from 'tap';
import { expectMarked } from './marked.ts';

const log = 'Nov 22 10:00:00 sno-0 app[1]: ';

t.test('the lines of a block', async (t) => {
  await expectMarked(t, [
    'password: |\n  «hunter 22»\n   \n\n  «hunter 23»\nb: c\n',
    'password: |\r\n  «hunter 22»\r\n  «hunter 23»\r\nb: c\r\n',
    'password: |\n  «hunter 22»  \nb: c\n',
    'password: |\n  «value: hunter22»\n  «- hunter23»\nb: c\n',
    // Between lines with a prefix, an empty one has it too.
    `${log}password: |\n${log}  «hunter 22»\n${log}\n${log}  «hunter 23»\n${log}b: c\n`,
    '> password: |\n>   «hunter 22»\n> b: c\n',
    '  password: |\n      «hunter 22»\n  b: c\n',
    // No deeper than the name.
    'a:\n  password: |\n  words\n',
    '    password: |\n  words\n',
    `password: |\n${'  «hunter 22»\n'.repeat(200)}  words\n`,
    `password: |\n${'  «hunter 22»\n'.repeat(199)}b: c\n`,
  ]);
});

t.test('the lines of a block within quotes', async (t) => {
  await expectMarked(t, [
    '{"a":"password: |\\n    «hunter 22»\\nb: c\\n"}',
    '{"a":"password: >-\\r\\n  «hunter 22»\\r\\n  «hunter 23»\\r\\nb: c"}',
    '{\\"a\\":\\"password: |\\\\n  «hunter 22»\\\\n  «hunter 23»\\\\nb: c\\"}',
    '{"a":"password: |\\n  «hunter 22»"}',
    '{"a":"password: |\\nwords\\n  more words"}',
  ]);
});

t.test('lines of a value without a block', async (t) => {
  await expectMarked(t, [
    'password: «hunter»\n\n  words\n',
    'password:\n  «hunter22»\n  value: words\n',
    'password:\n  value: «hunter22»\n  words\n',
    'password:\n  value: «hunter22»\n  - words\n',
  ]);
});

t.test('a value on the line after its name', async (t) => {
  await expectMarked(t, [
    '- name: DB_PASSWORD\n  value: «hunter 22»\n',
    '- name: "DB_PASSWORD"\n  value: "«hunter 22»"\n',
    `- name: DB_PASSWORD${' '.repeat(30)}\n  value: «hunter 22»\n`,
    `${log}- name: DB_PASSWORD\n${log}  value: «hunter22»\n`,
    `{${' '.repeat(40)}"name": "DB_PASSWORD",\n"value": "«hunter 22»"}\n`,
    '\\"name\\": \\"DB_PASSWORD\\",\n\\"value\\": \\"«hunter 22»\\"\n',
    `\\\\\\"name\\\\\\":${' '.repeat(8)}\\\\\\"DB_PASSWORD\\\\\\",\n\\\\\\"value\\\\\\": \\\\\\"«hunter 22»\\\\\\"\n`,
    // Another key, more on the line, no value below.
    '- username: DB_PASSWORD\n  value: hunter 22\n',
    '- name: DB_PASSWORD b\n  value: hunter 22\n',
    `- name: DB_PASSWORD${' '.repeat(20)}b\n  value: hunter 22\n`,
    '- name: DB_PASSWORD\n  key: hunter 22\n',
    '- name: DB_PASSWORD',
  ]);
});
