import t from 'tap';
import { expectMarked } from './marked.ts';

t.test('a value goes to the end of the line that its name begins', async (t) => {
  await expectMarked(t, [
    '[wifi-security]\npsk=«home; sweet & home»\nkey-mgmt=wpa-psk\n',
    'password = «hunter 22» # changed\n',
    'password=«of a machine; config»\n[b]',
    'password: of a machine\n',
    '  password: «hunter 22» # changed\n',
    '- password: «hunter 22»\n',
    'export DB_PASSWORD=«hunter 22»\n',
    '# password = «hunter 22»\n',
    'password=«hunter 22» user=me',
    'password=«hunter;22»;user=me',
    'password=«hunter 22»  \r\nuser=me\r\n',
    'Nov 22 10:00:00 sno-0 app[1]: password: «hunter 22»',
    'Nov 22 10:00:00 sno-0 app: password: «hunter 22»',
    '2026-11-22T10:00:00.1Z stderr F   password: «hunter 22»',
    'I1122 10:00:00.000000 1 x.go:1] password: «hunter 22»',
    'A=b\0DB_PASSWORD=«hunter 22»\0C=d\0',
    'Environment="DB_PASSWORD=«hunter 22»" "A=b"',
    "Environment='DB_PASSWORD=«hunter 22»' A=b",
    '"Env":["A=b","DB_PASSWORD=«hunter 22»"]',
    '{"a.conf":"user = me\\npassword = «hunter 22»\\nb = c\\n"}',
    '{"log":"password: «hunter 22»\\n","stream":"stdout"}',
    // In prose it is one word, also of a name that is only sometimes a secret's.
    'got password=«hunter22» from a file',
    'token=«Zq8mK2vW4tYxR6nB» of a node',
    // Where the first word says where it is.
    'password = /etc/db b\npassword = $DB_PASSWORD b',
    // What mostly has blanks goes to the end of a quoted message.
    'msg="got passphrase=«hunter 22»" b=c',
    'got passphrase=«hunter» 22',
  ]);
});

t.test('a value can be on the lines below its name', async (t) => {
  const log = 'Nov 22 10:00:00 sno-0 app[1]: ';
  await expectMarked(t, [
    'a:\n  password: |\n    «hunter 22»\n    «hunter 23»\n\n    «x: y»\n  b: c\n',
    '  password: |\nNo   words\n',
    'a:\n  password: >- # folded\n    «hunter 22»\n  b: c\n',
    'password: !!str |2+\n  «hunter 22»\nb: c\n',
    `${log}password: |\n${log}  «hunter 22»\n${log}b: c\n`,
    `${log}password: |\n${log}  «hunter 22»\nanother: words\n`,
    '{"a":"password: |\\n  «hunter 22»\\n  «hunter 23»\\nb: c\\n"}',
    '- name: DB_PASSWORD\n  value: |\n    «hunter 22»\n- name: A\n  value: |\n    words\n',
    '{\n  "name": "DB_PASSWORD",\n  "value": "«hunter 22»"\n}\n',
    '  "--db-password",\n  "«hunter 22»",\n  "-v"\n',
    '- --db-password\n- --v=2\n- words\n',
    '- --db-password\n  - words\n',
    'app --db-password\nwords\n',
    'password:\n  «hunter 22»\nb: c\n',
    'clientSecret:\n  value: "«hunter22»"\n'.replace('"«hunter22»"', '«hunter22»'),
    'password:\n  type: string\n  description: words\n',
    'password:\n- «a»\n- «b»\n',
    'password: hidden\n  more words\n',
    'token: |\n  ordinary words\n  «Zq8mK2vW4tYxR6nB»\nb: c\n',
    'password: &pw «hunter 22»\n',
    'password: *pw\n',
  ]);
});

t.test('how a stream is split makes no difference to the lines of a value', async (t) => {
  const filler = `${'ordinary words '.repeat(4)}\n`.repeat(1074);
  const texts = [
    'a:\n  password: |\n    «hunter 22»\n    «hunter 23»\n  b: c\n',
    '- name: DB_PASSWORD\n  value: |\n    «hunter 22»\n  b: c\n',
  ];
  for (const text of texts) {
    for (let skip = 0; skip < 6; skip++) {
      await expectMarked(t, [`${filler.slice(61 * skip)}${text}${filler}`], { size: 61 });
    }
  }
});

t.test('wide columns, colours, tables', async (t) => {
  const wide = ' '.repeat(60);
  await expectMarked(t, [
    `password:${wide}«hunter 22»`,
    `password${wide}=\t«hunter22»`,
    `Password${wide}«hunter22»`,
    'KEY\tVALUE\npassword\t«hunter22»\n',
    '| password | «hunter22» |',
    'id       | 1\npassword | «hunter22»\n',
    'password «hunter22»\n',
    'password required\n',
    'passwd     1234 root\n',
    '\u001b[1mpassword\u001b[0m: \u001b[32m«hunter22»\u001b[0m\n',
    '\u001b[36mDB_PASSWORD=\u001b[0m«hunter 22»',
    '#033[36mpassword#033[0m=«hunter22»#033[0m\n',
    '"\\u001b[34mpassword\\u001b[0m":\\u001b[32m"«hunter 22»"\\u001b[0m',
    'the password is «hunter22» now',
    'the password is wrong now',
    'password set to "«hunter 22»" b',
  ]);
});

t.test('values in other forms', async (t) => {
  await expectMarked(t, [
    'password: Some("«hunter 22»"), b',
    "{'password': b'«hunter 22»', 'b': 1}",
    'password = sensitive("«hunter 22»")',
    'password: Secret(Some("«hunter 22»")) b',
    'Password: (string) (len=9) "«hunter 22»",',
    'Password: (*string)(0xc0001)("«hunter 22»")',
    "password=SecretStr('«hunter 22»'), b",
    "password=$'«hunter 22»' b",
    "password='«it'\\''s»' b",
    'Password:[]byte{«0x68, 0x75, 0x6e, 0x74»} b',
    'password: [«104, 117, 110, 116»] b',
    "got password=«hun;ter» b, password=«hun)ter» b, password=«hun'ter» b",
    'got {"password":{"value":"«hunter 22»"}}',
    '<property name="password" value="«hunter 22»"/>',
    '<password type="a">«hunter 22»</password>',
    '<entry key="password">«hunter 22»</entry>',
    '{"name":"password","type":"a","value":"«hunter 22»"}',
    "Added 'password' value '«hunter 22»' b",
    'if password == "«hunter 22»" {',
    ': PSK 0s«sv+NkxY9LLZvwj4qCC2o/gGrWDF2d21jL»'.replace('0s«sv', '«0sv'),
    'node.session.auth.password_in = «hunter 22»',
    '--password "«hunter 22»" b',
    '["app","--password","«hunter 22»","-v"]',
  ]);
});
