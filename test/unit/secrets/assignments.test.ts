import t from 'tap';
import { Budget } from '../../../lib/secrets/bytes/budget.ts';
import { Effort } from '../../../lib/secrets/redact/effort.ts';
import { KnownSecrets } from '../../../lib/secrets/redact/known.ts';
import { STREAM_LIMITS, TextRedactor } from '../../../lib/secrets/redact/text.ts';
import { TriggerSearch } from '../../../lib/secrets/redact/triggers.ts';
import { expectMarked } from './marked.ts';

const R = 'Zq8mK2vW4tYxR6nB';
const x = (length: number) => 'x'.repeat(length);

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
    ...['z', 'Z', '_x', '-x', '.x'].map((end) => `password${end}=word`),
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

t.test('a name begins after an escape, and ends before an arrow', async (t) => {
  await expectMarked(t, [
    // In capitals the name alone makes the word a secret.
    ...['\u001b[36m', '\u001b[1;36m', '\\n', '\\t', '\\r', '\\u001b', '\\x1b'].map(
      (before) => `a${before}B_TOKEN=«word»`,
    ),
    'a\\kB_TOKEN=word',
    'a\\nnB_TOKEN=word',
    'a[36nB_TOKEN=word',
    'a;36nB_TOKEN=word',
    'db_pwd->«word» b',
    'a pw=«word» b',
    'x "pw" -> «word» b',
  ]);
});

t.test('a variable is none, but its default value is', async (t) => {
  await expectMarked(t, [
    `got \${DB_PASSWORD} b`,
    `got \${DB_PASSWORD}=hunter22 b`,
    `got \${DB_PASSWORD:?hunter22} b`,
    `got \${DB_PASSWORD: hunter22} b`,
    `got \${DB_PASSWORD:-«hunter22»} b`,
    `got \${DB_PASSWORD-«hunter22»} b`,
    `got \${DB_PASSWORD:-«must be long»} b`,
    `got \${DB_PASSWORD:-"«hunter 22»"} b`,
    `got \${DB_PASSWORD-} \${DB_PASSWORD:=} b`,
    `got \${token-words} \${token-«${R}»} b`,
    `got \${DB_PASSWORD:=«hunter22»} b`,
    `got \${DB_PASSWORD=«hunter22»} b`,
    'got {DB_PASSWORD=«hunter22»} b',
    'got $DB_PASSWORD=«hunter22» b',
  ]);
});

t.test('where an unquoted value of several words ends', async (t) => {
  await expectMarked(t, [
    // After an option, an arrow or a comparison, it is one word even at the beginning of a line.
    '--password=«hunter22» b',
    'password => «hunter22» b',
    'password -> «hunter22» b',
    'password == «hunter22» b',
    'login me password «hunter22» b',
    '("password", "«hunter 22»", b)',
    '<password>none</password> password=«hunter22»',
    '<password>«must be long»</password>',
    'got Password:«hunter22» b:c',
    // A passphrase goes to the quote that began before its name.
    'msg="got psk=«hunter 22»" b=c',
    'msg="got PSK=«hunter 22»" b=c',
    'msg="got password=«hunter» 22" b',
    '"a" b passphrase=«hunter» 22',
    `"a:${x(580)} psk=«hunter 22 and»" c`,
    `"a:${x(620)} psk=«hunter» 22 and" c`,
    // Longer than what is read of a word at first.
    `got password=«${'ab1'.repeat(700)}» b`,
    `password="«${'a b '.repeat(256)}»" b`,
  ]);
});

t.test('a password stated in a sentence has a digit, or looks random', async (t) => {
  await expectMarked(t, [
    'the password is «hunter22» now',
    'the password is «HUNTER22» now',
    'the password is 12345678 now',
    'the password is hunterhunter now',
    'the password is «ABCDEFGHabcdefgh+/ABCDEF» now',
    'the token is hunter22 now',
    `the token is «${R}» now`,
  ]);
});

t.test('a setting is not a sentence', async (t) => {
  await expectMarked(t, [
    'password = «must be long»\n',
    '"password = «must be long»" b',
    'password: must be long\n',
    'got password=must be long',
    'got password: must be long',
    'password = $DB_PASSWORD b',
    'password = /etc/db b',
    'password = «/nowhere/db b»',
    'password: "«must be long»"',
    'password: "«$DB_PASSWORD b»"',
    '- name: DB_PASSWORD\n  value: «must be long»\n',
    'password = «two $DB_PASSWORD»',
    `password = /etc/${x(506)} b`,
  ]);
});

t.test('whether a value goes on in the next lines', async (t) => {
  await expectMarked(t, [
    'password: "«hunter 22»"\n  more words\n',
    'password = «hunter»\n  22\n',
    'password = "«hunter»\n  22"\n',
    'got password: "«hunter»\n  22"\n',
    'got a password: "«hunter»\ngot a   22"\n',
    'password: «hunter»\n  user: me\n',
    `token: "«${R}»\n  more"\n`,
    `token: «${R}»\n  more words\n`,
    `token:\n  «${R}»\n`,
    'got password:\n  words\n',
    'password =\n  words\n',
    'password=|\n  words\n',
  ]);
});

t.test('under a doubtful name, each line of a block is judged', async (t) => {
  await expectMarked(t, [
    '{"a":"token: |\\n  ordinary words\\nb: c\\n"}',
    `{"a":"token: |\\n  «${R}»\\nb: c\\n"}`,
    '{"a":"password: |\\n  «hunter 22»\\nb: c\\n","password":"«hunter23»"}',
    '- name: DB_PASSWORD\n  Value: |\n    «hunter 22»\n  b: c\n',
    '- name: DB_PASSWORD\n  value: |\n  words\n',
    '- name: B_TOKEN\n  value: |\n    «ordinary»\n',
    `- name: token\n  value: |\n    ordinary\n    «${R}»\n`,
    '- name: token\n  value: ordinary\n',
    `- name: token\n  value: «${R}»\n`,
  ]);
});

t.test('a value under a name of several triggers is marked once', async (t) => {
  for (const text of [
    'got token_secret_password=hunter22 b',
    'token_secret_password: |\n  hunter22\n',
    'a: "token_secret_password: |\\n  hunter22\\nb"',
    '<token_secret_password>hunter22</token_secret_password>',
    '- name: TOKEN_SECRET_PASSWORD\n  value: hunter22\n',
    '- name: TOKEN_SECRET_PASSWORD\n  value: |\n    hunter22\n',
  ]) {
    const marked: string[] = [];
    const of = (secret: string) => `<${marked.push(secret)}>`;
    const means = { known: new KnownSecrets([], { of }), triggers: new TriggerSearch() };
    const limits = { budget: new Budget(STREAM_LIMITS), effort: new Effort() };
    const redactor = new TextRedactor({ ...means, marks: { of } }, limits);
    redactor.whole(Buffer.from(text));
    t.equal(marked.join(), text.match(/hunter22/g)?.join(), text);
  }
});
