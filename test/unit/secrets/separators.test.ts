import t, { type Test } from 'tap';
import { type Separator, separatorAfter } from '../../../lib/secrets/redact/separators.ts';

const blanks = (count: number) => ' '.repeat(count);
const slashes = (count: number) => '\\'.repeat(count);

/** What is found after the name in a line that has `«»` around what stands between the name and its value. */
function found(marked: string): Separator | undefined {
  const [head = '', between = '', tail = ''] = marked.split(/[«»]/);
  const name = /[\w.-]*$/.exec(head)?.[0] ?? '';
  const before = head.slice(0, head.length - name.length);
  const line = `${head}${between}${tail}`;
  return separatorAfter(line, head.length, { name, before, isFirst: before.trim() === '' });
}

/** Each line has `«»` around the separator; without anything between, none must be found. */
function expectAll(t: Test, by: Separator['by'], lines: readonly string[]) {
  for (const line of lines) {
    const [head = '', between = ''] = line.split(/[«»]/);
    const expected = between === '' ? undefined : { end: head.length + between.length, by };
    t.strictSame(found(line), expected, JSON.stringify(line.slice(0, 120)));
  }
}

t.test('settings', async (t) => {
  expectAll(t, 'colon', [
    'got password«: »hunter22',
    'got password«:\t »hunter22',
    'got password« : »hunter22',
    'got password«:: »hunter22',
    'got password«:»',
    'got password«::»',
    'got "password«": »"hunter22"',
    "got 'password«': »hunter22",
    'got `password«`: »hunter22',
    `got password«${slashes(15)}": »hunter22`,
    `got password«»${slashes(16)}": hunter22`,
    `got password«${blanks(200)}:${blanks(200)}»hunter22`,
    `got password«»${blanks(201)}: hunter22`,
    `got password«:${blanks(200)}» hunter22`,
    'got password«» \n: hunter22',
    'got password«: »\nhunter22',
  ]);
  expectAll(t, 'equals', [
    'got password«=»hunter22',
    'got password« = »hunter22',
    'got password«?=»hunter22',
    'got password« += »hunter22',
    'got "password«"=»hunter22',
    'got password«» x= hunter22',
  ]);
});

t.test('colours of a terminal', async (t) => {
  const colours = [
    '\u001b[0m',
    '\u001b[K',
    '\u001b[m',
    '\u001b[1;32m',
    '#033[36m',
    '^[[36m',
    ...['u001b', 'x1b', '033', 'e'].flatMap((code) => [`\\${code}[0m`, `${slashes(4)}${code}[0m`]),
    `\u001b[${'1;'.repeat(8)}m`,
  ];
  expectAll(
    t,
    'equals',
    colours.flatMap((colour) => [
      `got password«${colour}=»hunter22`,
      `got password«${colour} =${colour}»hunter22`,
      `got password«${colour}"=»hunter22`,
      `got password«"${` ${colour}`.repeat(4)} =${` ${colour}`.repeat(4)} »hunter22`,
    ]),
  );
  expectAll(t, 'equals', [
    `got password«»\u001b[${'1;'.repeat(8)}1m=hunter22`,
    'got password«»\u001b[0x=hunter22',
    'got password«»\u001b[am=hunter22',
    `got password«»${slashes(5)}e[0m=hunter22`,
    'got password«»e[0m=hunter22',
    `got password«»"${'\u001b[0m'.repeat(5)}=hunter22`,
    `got password«\u001b[0m${` ${blanks(199)}\u001b[0m`.repeat(4)}${blanks(200)}=»hunter22`,
    `got password«»"\u001b[0m${blanks(201)}=hunter22`,
  ]);
  expectAll(t, 'column', ['password«\u001b[0m  »hunter22', 'password«  \u001b[0m»hunter22']);
});

t.test('operators of programs', async (t) => {
  expectAll(
    t,
    'word',
    [':', '==', '===', '=>', '->', ':='].flatMap((operator) => [
      `got password«${operator}»hunter22`,
      `got "password«"${operator}»hunter22`,
      ...(operator === ':' ? [] : [`got password« ${operator} »hunter22`]),
    ]),
  );
  expectAll(t, 'word', [
    'got password«===»=hunter22',
    'got password«»::hunter22',
    'got password«»-hunter22',
    'got password«» > hunter22',
  ]);
});

t.test('an object that holds the value', async (t) => {
  expectAll(t, 'word', [
    'got "password«":{"value":»"hunter22"}',
    'got "password«": {"string": »"hunter22"}',
    'got "password«": {"plainText": »"hunter22"}',
    "got 'password«': {'value': »'hunter22'}",
    'got password«: {value: »hunter22}',
    'got password«={Value:»hunter22}',
    'got \\"password«\\":{\\"value\\":»\\"hunter22\\"}',
    `got password«: {${blanks(8)}${slashes(15)}"value${slashes(15)}"${blanks(4)}:${blanks(8)}»"hunter22"}`,
  ]);
  expectAll(t, 'colon', [
    'got password«: »{"text": "hunter22"}',
    `got password«: »{${blanks(9)}value: hunter22}`,
    `got password«: »{value${blanks(5)}: hunter22}`,
    `got password«: »{${slashes(16)}"value": hunter22}`,
    `got password«: »{"value${slashes(16)}": hunter22}`,
    'got password«: »{a value: hunter22}',
  ]);
});

t.test('the value of a named variable', async (t) => {
  const fields = (count: number) => '"type":"a.b-c", '.repeat(count);
  expectAll(t, 'word', [
    '{"name":"DB_PASSWORD«","value":»"hunter22"}',
    '{"name": "DB_PASSWORD«" , "value" : »"hunter22"}',
    '{\\"name\\":\\"DB_PASSWORD«\\",\\"value\\":»\\"hunter22\\"}',
    "{'name': 'DB_PASSWORD«', 'value': »'hunter22'}",
    '<property name="DB_PASSWORD«" value=»"hunter22"/>',
    'EnvVar{Name:DB_PASSWORD«,Value:»hunter22}',
    '{Name:DB_PASSWORD« Value:»hunter22}',
    ...[1, 2, 3].map((count) => `{"name":"DB_PASSWORD«", ${fields(count)}"value":»"hunter22"}`),
    `{"name":"DB_PASSWORD«»", ${fields(4)}"value":"hunter22"}`,
    'EnvVar{Name:DB_PASSWORD«,Type:a,Value:»hunter22}',
    'EnvVar{Name:DB_PASSWORD«, Type=, Value=»hunter22}',
    `{"name":"DB_PASSWORD«",${slashes(15)}"type${slashes(15)}"${blanks(8)}:${blanks(8)}${slashes(15)}'a${slashes(15)}',${blanks(8)}"value":»"hunter22"}`,
    `{"name":"DB_PASSWORD«","${'t'.repeat(40)}":"${'a'.repeat(80)}","value":»"hunter22"}`,
    `{"name":"DB_PASSWORD«»","${'t'.repeat(41)}":"a","value":"hunter22"}`,
    `{"name":"DB_PASSWORD«»","t":"${'a'.repeat(81)}","value":"hunter22"}`,
    '{"name":"DB_PASSWORD«»","a b":"c","value":"hunter22"}',
    '{"name":"DB_PASSWORD«»","a":"b c","value":"hunter22"}',
    '{"name":"DB_PASSWORD«»",,"value":"hunter22"}',
    `"DB_PASSWORD«${slashes(15)}"${blanks(8)},${blanks(8)}${slashes(15)}"value${slashes(15)}"${blanks(8)}:${blanks(8)}»"hunter22"`,
    `"DB_PASSWORD«»${slashes(16)}", "value": "hunter22"`,
    `"DB_PASSWORD«»", ${slashes(16)}"value": "hunter22"`,
    `"DB_PASSWORD«»", "value${slashes(16)}": "hunter22"`,
    `"DB_PASSWORD«»"${blanks(9)}, "value": "hunter22"`,
    `"DB_PASSWORD«"${blanks(8)}value: »"hunter22"`,
    `got DB_PASSWORD«»${blanks(9)}value: hunter22`,
    '"DB_PASSWORD«»"value: "hunter22"',
    '"DB_PASSWORD«»", "values": "hunter22"',
    '"DB_PASSWORD«»", "value" hunter22',
  ]);
});

t.test('an element of XML', async (t) => {
  const table: [line: string, value: string | undefined][] = [
    ['<password«>»hunter 22</password> b</b>', 'hunter 22'],
    ['<password« type="a">»hunter22</password>', 'hunter22'],
    [`<password« ${'a'.repeat(200)}>»hunter22</password>`, 'hunter22'],
    [`<password«» ${'a'.repeat(201)}>hunter22</password>`, undefined],
    ['<entry key="password«">»hunter22</entry>', 'hunter22'],
    [`<entry key="password«${slashes(15)}">»hunter22</entry>`, 'hunter22'],
    [`<entry key="password«»${slashes(16)}">hunter22</entry>`, undefined],
    [`<password«>»${'a'.repeat(4096)}</password>`, 'a'.repeat(4096)],
    [`<password«»>${'a'.repeat(4097)}</password>`, undefined],
    ['<password«»></password>', undefined],
    ['<password«»>hunter22<b/></password>', undefined],
    ['<password«» <a>hunter22</password>', undefined],
    ['<password«»>hunter22', undefined],
  ];
  for (const [line, value] of table) {
    const separator = found(line);
    const text = line.replace(/[«»]/g, '');
    t.equal(separator?.value && text.slice(separator.value.start, separator.value.end), value);
    if (value === undefined) continue;
    t.equal(separator?.by, 'element');
    t.equal(separator?.end, line.indexOf('»') - 1);
  }
});

t.test('arguments of programs', async (t) => {
  expectAll(t, 'word', [
    'app --password« »hunter22',
    'app -p« »hunter22',
    'app\0--password«\0»hunter22\0',
    `app --password«${blanks(8)}»hunter22`,
    '["--password«", »"hunter22"]',
    "['--password«',»'hunter22']",
    `--password«${slashes(15)}",${blanks(8)}»${slashes(15)}"hunter22`,
    `--password«»${slashes(16)}", "hunter22`,
    `--password«»",${blanks(9)}"hunter22"`,
    'setenv("password«", »"hunter22")',
    "setenv('password«', »'hunter22')",
    'setenv("password«»", hunter22)',
    'setenv["password«»", "hunter22"]',
    'app --password«» -b',
    '["--password«»", "-b"]',
    'app password«» hunter22',
  ]);
});

const STATING = ['is', 'was', 'to', 'changed to', 'set to'];

t.test('only a value in quotes', async (t) => {
  expectAll(t, 'word', [
    'WITH PASSWORD« »"hunter22"',
    "WITH PASSWORD« »'hunter22'",
    'WITH PASSWORD« »`hunter22`',
    `WITH PASSWORD«${blanks(200)}»${slashes(15)}"hunter22"`,
    `WITH PASSWORD«»${blanks(201)}"hunter22"`,
    `WITH PASSWORD«» ${slashes(16)}"hunter22"`,
    'WITH "PASSWORD«" »"hunter22"',
    'WITH `PASSWORD«` »"hunter22"',
    `WITH PASSWORD«${slashes(15)}" »"hunter22"`,
    `WITH PASSWORD«»${slashes(16)}" "hunter22"`,
    'set password« (»"hunter22")',
    'set password«(»"hunter22")',
    `set password« (${blanks(8)}»"hunter22")`,
    `set password«(${blanks(8)}»${slashes(15)}"hunter22")`,
    `set password«»(${blanks(9)}"hunter22")`,
    `set password«» (${blanks(9)}"hunter22")`,
    'set password«» (hunter22)',
    'set password«»\n"hunter22"',
    'the password« value »"hunter22"',
    "the 'password«' value »'hunter22'",
    ...STATING.flatMap((word) => [
      `the password« ${word} »"hunter22"`,
      `the 'password«' ${word} »'hunter22'`,
      `the password« ${word}: »\`hunter22`,
      `the password« ${word} = »\\"hunter22`,
      `the password« ${word}${blanks(4)}=${blanks(8)}»${slashes(15)}"hunter22"`,
    ]),
    `the password«» is${blanks(5)}= "hunter22"`,
    'the password«» has "hunter22"',
    'the password«»  is "hunter22"',
  ]);
});

t.test('one word in a sentence', async (t) => {
  expectAll(t, 'stated', [
    'the password« value »hunter',
    `the password« is »${slashes(16)}"hunter22"`,
    ...STATING.flatMap((word) => [
      `the password« ${word} »hunter`,
      `the password«\t${word}${blanks(4)}:${blanks(8)}»hunter22 now`,
    ]),
    `the password« is »${'a'.repeat(4096)} b`,
    `the password«» is ${'a'.repeat(4097)}`,
    'the password«» is hunte',
    'the password«» is hunte r22',
    `the password«» is${blanks(5)}: hunter22`,
    `the password«» is${blanks(13)}hunter22`,
    'the password«» has hunter22',
  ]);
});

t.test('the word after a user', async (t) => {
  const users = 'machine login user username account connect ssid neighbor'.split(' ');
  expectAll(t, 'word', [
    ...users.flatMap((user) => [`${user} me password« »hunter22`, `a ${user} me password« »b`]),
    'Login me password« »hunter22',
    'a "login me password« »hunter22',
    "a 'login me password« »hunter22",
    `login${blanks(200)}${'m'.repeat(256)}${blanks(200)}password«${blanks(200)}»hunter22`,
    'login\tme\tpassword« »hunter22',
    'login me\tpassword« »hunter22',
    'a\tlogin me  password« »hunter22',
    `login me password«»${blanks(201)}hunter22`,
    'xlogin me password«» hunter22',
    'xusername me password«» hunter22',
    'xneighbor\tme\tpassword«» hunter22',
    'login me too password«» hunter22',
    'login password«» hunter22',
    '| user | password«» hunter22',
    'login me password«»',
    'login me password«»-hunter22',
  ]);
});

t.test('a key of IPsec', async (t) => {
  expectAll(t, 'word', [
    'a : PSK« »0sAZaz+/09=bcd',
    'a : PSK« »0x0123456789ab b',
    `a : PSK«${blanks(8)}»0s${'a'.repeat(4096)}`,
    `a : PSK«»${blanks(9)}0x0123456789ab`,
    `a : PSK«» 0s${'a'.repeat(4097)}`,
    'a : PSK«» 0x0123456789a',
    'a : PSK«» 0y0123456789ab',
    'a : PSK«» 0x0123456789ab-b',
  ]);
});

t.test('the line of a name', async (t) => {
  expectAll(t, 'column', [
    ...['bindpw', 'rootpw', 'requirepass', 'masterauth', 'auth_pass'].map(
      (setting) => `${setting}«${blanks(200)}»hunter 22`,
    ),
    'got requirepass«» hunter 22',
    'requirepass2«» hunter 22',
    'myrequirepass«» hunter 22',
    'requirepass«» -hunter 22',
    `requirepass«»${blanks(201)}hunter 22`,
    // Tables.
    'password«|»hunter 22',
    'password« | »hunter 22',
    'password«\t\xe2\x94\x82\t»hunter 22',
    `password«${blanks(200)}|${blanks(200)}»hunter 22`,
    `password«»${blanks(201)}| hunter 22`,
    'password«» x| hunter 22',
    'got password«» | hunter22',
    // Columns.
    'Password«  »hunter22',
    'Password«\t»hunter22',
    'Password«\t »h  ',
    `Password«${blanks(400)}»${'h'.repeat(4097)}${blanks(200)}`,
    `Password«»  hunter22${blanks(201)}`,
    `Password«»  ${'h'.repeat(4098)}`,
    'Password«»  hunter 22',
    'Password«»  -hunter22',
    'got Password«»  hunter22',
    // Directives of programs.
    'password« »hunter22',
    'my_pass-word« »hunt',
    `password« »${'h'.repeat(4097)}${blanks(200)}`,
    `password«» ${'h'.repeat(4098)}`,
    `password«» hunter22${blanks(201)}`,
    'password«» hun',
    'password«» hunter 22',
    'password«» -hunter22',
    'Password«» hunter22',
    'my_Password«» hunter22',
    '_password«» hunter22',
    'my.password«» hunter22',
    'got password«» hunter22',
    ...['changed', 'changed:', 'missing.', 'rotation', 'expires', `changed${blanks(200)}`].map(
      (word) => `password«» ${word}`,
    ),
    'password« »Changed',
    'password« »changed22',
    'password« »hunter22s',
    `password« »${'a'.repeat(21)}ed`,
    `password«» ${'a'.repeat(20)}ed`,
  ]);
});
