import t from 'tap';
import {
  chpasswd,
  chronyKeys,
  grub,
  ipsecSecrets,
  pgpass,
  pppSecrets,
  whole,
} from '../../../lib/secrets/formats/credentials.ts';
import { readings, unescaped, words } from '../../../lib/secrets/formats/quoting.ts';
import { type Reader, settings } from '../../../lib/secrets/formats/settings.ts';
import { environmentFiles, units } from '../../../lib/secrets/formats/units.ts';

t.test('words of a line', async (t) => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['', []],
    ['  a  b\tc ', ['a', 'b', 'c']],
    [`'a b' "c d"`, ['a b', 'c d']],
    [`"a \\"b\\" \\n" 'c\\'`, ['a \\"b\\" \\n', 'c\\']],
    [`'' ""`, ['', '']],
    [`'it is open`, ['it is open']],
    ['a\0b', ['a', 'b']],
  ];
  for (const [line, expected] of rows) t.strictSame(words(line), expected, line);
});

t.test('escapes', async (t) => {
  t.equal(unescaped('a\\x20b\\s\\t\\u00e9\\101\\;\\\\n\\"'), 'a b \té' + 'A;\\n"');
  t.equal(unescaped('ends with \\'), 'ends with \\');
});

t.test('possible meanings of a value', async (t) => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    [' a b; c & d ', ['a b; c & d']],
    ['a b # c', ['a b # c', 'a b']],
    ['a b;', ['a b;', 'a b']],
    ['"a b" # c', ['a b']],
    ['"a; b";', ['a; b']],
    // Quotes in a value do not matter where it is searched for.
    [`'it''s'`, [`it''s`]],
    ['"a \\"b\\" \\\\"', ['a \\"b\\" \\\\', 'a "b" \\']],
    ['"a "b" c"', ['a "b" c']],
    ['"a b', ['"a b']],
    ['a\\sb', ['a\\sb', 'a b']],
  ];
  for (const [rest, expected] of rows) t.strictSame([...readings(rest)], expected, rest);
});

/** Each reader with a file and the expected values, as `name=value`. */
const FILES: readonly (readonly [Reader, string, readonly string[]])[] = [
  [settings, '# a=1\n; b=2\n!c=3\nd = x y\r\n\n', ['d=x y']],
  [settings, 'a: b=c\n', ['b=c', 'a=b=c']],
  [settings, '"quoted" : "x"\n', ['quoted=x']],
  [settings, `export A=1\n  B='x y'\n`, ['A=1', 'B=x y']],
  [settings, `a=${'b'.repeat(16_385)}\n`, []],
  [units, 'SetCredential=id:a\\x20b: c\n', ['password=a b: c']],
  [pgpass, 'h:1:d:u:a\\:b:c\nh:1:d:u\n', ['password=a:b:c']],
  [
    ipsecSecrets,
    'a b : PSK 0sabc\n:XAUTH "x y"\n: RSA k.pem %prompt\n# : PSK no\n',
    ['password=0sabc', 'password=abc', 'password=x y'],
  ],
  [pppSecrets, '"a b" * "c d" *\n', ['password=c d']],
  [
    chronyKeys,
    '1 MD5 HEX:AB\n2 ASCII:cd\n3 ef\nx MD5 no\n',
    ['password=AB', 'password=cd', 'password=ef'],
  ],
  [
    grub,
    'password_pbkdf2 root grub.pbkdf2.sha512.1.AB.CD0123456789\npassword u "p w"\n',
    ['password=p w'],
  ],
  [
    chpasswd,
    'chpasswd:\n  list:\n    - "a:b c"\n    - d:e:f\n\n    expire: false\nother:\n  x:y\n',
    ['password=b c', 'password=e:f'],
  ],
  [whole, ' one value\n', ['password=one value']],
  [whole, 'two\nlines\n', []],
];

t.test('each format', async (t) => {
  for (const [read, text, expected] of FILES) {
    const found = [...read(text)].flatMap(([name, value]) =>
      value === '' ? [] : `${name}=${value}`,
    );
    t.strictSame([...new Set(found)], expected, `${read.name}: ${text}`);
  }
});

t.test('environment files of units', async (t) => {
  const text =
    'EnvironmentFile=-/a/b\nEnvironmentFile = "/c"\n#EnvironmentFile=/d\nEnvironmentFile=/e/*.f\n';
  t.strictSame(environmentFiles(text), ['/a/b', '/c']);
});
