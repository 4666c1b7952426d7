import t from 'tap';
import { expectHeld } from './in-blocks.ts';
import { expectMarked } from './marked.ts';

const TOKEN = 'kyxp62b9ef0exrxt19ci5wxy';

t.test('lines below a name and a colon', async (t) => {
  await expectMarked(t, [
    'password: |\n  «one line»\n  «another: line»\nuser: a\n',
    'I1 x] a: b, password: |\nI1 x]         «calvin»\nI1 x] user: a\n',
    'password:\n  «calvin»\nuser: a\n',
    `token:\n  «${TOKEN}»\nuser: a\n`,
    `token: |\n  words\n  «${TOKEN}»\nuser: a\n`,
    `{"msg":"password: |\\n  «calvin»\\n","n":1}\n`,
    `{"msg":"token: |\\n  «${TOKEN}»\\n","n":1}\n`,
  ]);
});

t.test('lines below a name that are no value of it', async (t) => {
  await expectMarked(t, [
    'token:\n  words\nuser: a\n',
    'password:\n  user: a\n',
    'password: «calvin»\nuser\n',
    'password = |\n  words\n',
    'password =\n  words\n',
    '{"msg":"token: |\\n  words\\n","n":1}\n',
    'the password:\n  words\n',
    'echo "password:\n  words\n',
    'passwordFile: |\n  words\n',
  ]);
});

t.test('name and value of a variable on two lines', async (t) => {
  await expectMarked(t, [
    '- name: DB_PASSWORD\n  value: «calvin»\n- name: MODE\n  value: words\n',
    '{"name": "DB_PASSWORD",\n"value": "«two words»"}\n',
    '- name: DB_PASSWORD\n  value: |\n    «user: calvin»\n    «hobbes»\n- name: MODE\n',
    `- name: API_COOKIE\n  value: «${TOKEN}»\n`,
    `- name: API_COOKIE\n  value: |\n    words\n    «${TOKEN}»\n`,
    '- name: DB_PASSWORD\n  value: «calvin» # words\n',
    // The old and the new value in a diff.
    ' - name: DB_PASSWORD\n-  value: «calvin»\n+  value: «hobbes»\n   value: words\n',
    ' - name: DB_PASSWORD\n-  value: $(OTHER)\n+  value: «hobbes»\n',
    ' - name: DB_PASSWORD\n-  value: «calvin»\n   value: words\n',
  ]);
});

t.test('names on a line of their own without a value below', async (t) => {
  await expectMarked(t, [
    '- name: MODE\n  value: words\n',
    '- name: API_COOKIE\n  value: words\n',
    '- name: DB_PASSWORD\n  value: $(OTHER)\n',
    '- name: DB_PASSWORD\n  value: ""\n',
    '- name: DB_PASSWORD\n  value: \n',
    '- name: DB_PASSWORD\n  valueFrom:\n    words: a\n',
    '- name: DB_PASSWORD\nvalues: words\n',
    '- kind: DB_PASSWORD\n  value: words\n',
    '- name: DB_PASSWORD\n\n  value: words\n',
    '- name: DB_PASSWORD',
  ]);
});

t.test('values below that the next bytes of the stream can change', (t) => {
  expectHeld(t, [
    'words\n¦password: |\n',
    'words\n¦password: |\n  «calvin»\n',
    'words\npassword: |\n  «calvin»\nuser: a\n¦mode: b\n',
    'words\n¦- name: DB_PASSWORD\n  value: «calvin»\n',
    'words\n- name: DB_PASSWORD\n  value: «calvin»\n¦- name: MODE\n',
    'words\n¦- name: DB_PASSWORD\n  value: |\n    «calvin»\n',
    'words\n¦ - name: DB_PASSWORD\n-  value: $(OTHER)\n',
    'words\n¦ - name: DB_PASSWORD\n-  value: «calvin»\n+  value: «hobbes»\n',
    'words\n - name: DB_PASSWORD\n-  value: «calvin»\n+  value: «hobbes»\n¦ - name: MODE\n',
  ]);
  t.end();
});
