import t from 'tap';
import { expectMarked } from './marked.ts';

/** Not at the beginning of a line, where a value would go to the line's end. */
const inProse = (texts: readonly string[]) => texts.map((text) => `got ${text}`);

t.test('a value is found after its name, however it is assigned', async (t) => {
  await expectMarked(
    t,
    inProse([
      'password=«hunter22» b',
      'password:«hunter22» b',
      'password: «hunter22» b',
      'password = «hunter22» b',
      'password := «hunter22» b',
      'password => «hunter22» b',
      '"password":"«hunter22»","b":1',
      '"password" : "«hunter22»", "b"',
      "'password': '«hunter22»', b",
      'password=`«hunter 22»` b',
      '\\"password\\":\\"«hunter22»\\",\\"b\\":1',
      '\\\\\\"password\\\\\\":\\\\\\"«hunter22»\\\\\\",\\\\\\"b',
      '{"name":"DB_PASSWORD","value":"«hunter22»"} b',
      '{"name": "DB_PASSWORD" , "value" : "«hunter22»", "b": 1}',
      '{\\"name\\":\\"DB_PASSWORD\\",\\"value\\":\\"«hunter22»\\"}',
      '<password>«hunter22»</password> <b>c</b>',
      'app --password «hunter22» --b',
      'app --password --b c',
      'app --password=«hunter22» --b',
      'app\0--password\0«hunter22»\0--b\0',
      'the password hunter22 is not assigned',
      'password: ["«hunter22»"] b',
      'password: [«hunter22»]',
      'password: {a: hunter22}',
      'password=[«104 117 110 116 101»] b',
    ]),
  );
});

t.test('an unquoted value ends where something else begins', async (t) => {
  await expectMarked(
    t,
    inProse([
      'password=«hunter22»',
      'password=«hunter22», b',
      'password=«hunter22»,',
      'password=«hun,ter22» b',
      'password=«hunter22»,user=b',
      'password=«hunter22»,user:b',
      'password=«hunter22»,"b"',
      'password=«hun&ter22» b',
      'password=«hunter22»&user=b',
      'password=«hunter22»&amp;user=b',
      'password=«hunter22»& b',
      'password=«hunter22»; b',
      'password=«hunter22») b',
      'password=«hunter22»] b',
      'password=«hunter22»} b',
      'password=«hunter22»" b',
      "password=«hunter22»' b",
      'password=«hunter22»` b',
      'password=«hunter22»<b',
      'password=«hunter22»\\nb',
      'password=)hunter22',
      'password=;hunter22',
      'password=\\nhunter22',
      'password=«hunter22»\\"b',
      'password=«DOMAIN\\Admin» b',
      'password=«hunter22»\tb',
      'password=«hunter22»\0b',
    ]),
  );
});

t.test('a quoted value ends with its opening quote character', async (t) => {
  await expectMarked(t, [
    'got password="«hunter2\\"»" and more',
    'password="«hunter 22»" b',
    'password="«hunter\\"22»" b',
    'password="«hunter\\\\»" b',
    'password="«hunter\'22»" b',
    "password='«hunter\"22»' b",
    '{\\"password\\":\\"«hunter 22»\\",\\"b\\":\\"c\\"}',
    '{\\"password\\":\\"«hun\\\\\\"ter»\\",\\"b\\"}',
    'password="«hunter 22 to the end of the line»',
    'password="" b="c"',
  ]);
});

t.test('the whole name decides', async (t) => {
  await expectMarked(t, [
    'DB_PASSWORD=«hunter22»',
    'proxyPassword=«hunter22»',
    'a.b-password=«hunter22»',
    'passwordFile=hunter22',
    'password.file=hunter22',
    'NOPASSWD: hunter22',
    'continueToken=Zq8mK2vW4tYxR6nB',
    // For a variable in capitals, its name is sufficient; for other tokens, the value decides.
    'B_TOKEN=«word»',
    'x_Token=word',
    'x_Token=«Zq8mK2vW4tYxR6nB»',
    ...['a', 'z', 'aA', 'aZ', 'a0', 'a9', 'a_', 'a-', 'a.'].map((start) => `${start}B_TOKEN=word`),
    ...['`', '{', '@', '[', '/', ':', ',', '^'].map((start) => `a${start}B_TOKEN=«word»`),
    ...['z', 'Z', '9', '_x', '-x', '.x'].map((end) => `password${end}=word`),
    '_pass=«word»',
    "'db_pass' : '«word»'",
    'compass=word',
    `${'a'.repeat(192)}password=«word»`,
    `${'a'.repeat(193)}password=word`,
  ]);
});

t.test('prose and placeholders are not values', async (t) => {
  await expectMarked(t, [
    'error: password: must not be empty',
    'password: authentication failed',
    'got password: «mustard» b',
    'password: «must»',
    'password: "«must»" b',
    'password: Is required',
    'password: is wrong, password=«hunter22» b',
    'password=none password=«hunter22» b',
    'password=/etc/passwd password=«hunter22» b',
    'secret=word secret=«Zq8mK2vW4tYxR6nB» b',
    'passwordFile=a password=«hunter22» b',
    'password=«hunter22» password=«hunter23» b',
    'got password=«password=hunter22» b',
    `password='«x password="y»' z" b`,
    ...['true', 'FALSE', 'null', 'nil', 'none', 'undefined', 'unset', 'empty', 'yes', 'no'].map(
      (word) => `password=${word}`,
    ),
    ...['on', 'off', 'disabled', 'Enabled', 'redacted', 'hidden', 'masked', 'optional'].map(
      (word) => `password=${word}`,
    ),
    ...['required', '***', 'xxx', '|', '>', '|-', '>-', '...', '-'].map(
      (word) => `password: ${word}`,
    ),
    'password=«truest»',
  ]);
});

t.test('an environment variable in YAML has its value on the next line', async (t) => {
  await expectMarked(t, [
    '- name: DB_PASSWORD\n  value: «hunter22»\nc: d\n',
    '- name: DB_PASSWORD\n  value: «hunter 22»  \nc: d\n',
    '- name: "DB_PASSWORD"\n  value: "«hunter22»" # b\n',
    "- name: 'DB_PASSWORD'  \n  value: '«hunter22»'\n",
    'env: { name: DB_PASSWORD\n value: «hunter22»',
    'name: DB_PASSWORD\n- value: «hunter22»\n',
    'log: - name: DB_PASSWORD\nvalue: «hunter22»\n',
    '- name: DB_PASSWORD\n  value: «hunter22»\n- name: API_TOKEN\n  value: «hunter23»\n',
    '- name: DB_PASSWORD b\n  value: hunter22\n',
    '- rename: DB_PASSWORD\n  value: hunter22\n',
    '- name: LANG\n  value: hunter22\n',
    '- name: DB_PASSWORD\n  valueFrom: hunter22\n',
    '- name: DB_PASSWORD\n  value: \n  other: hunter22\n',
    '- name: DB_PASSWORD\n  value: ""\n',
    '- name: DB_PASSWORD\n  value: none\n',
    '- name: DB_PASSWORD\n\n  value: hunter22\n',
  ]);
});
