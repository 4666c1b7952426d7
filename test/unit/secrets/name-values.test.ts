import t from 'tap';
import { isReference, isUserAndPassword } from '../../../lib/secrets/redact/values.ts';

t.test('the login of a registry', async (t) => {
  const rows: readonly (readonly [text: string, isLogin: boolean])[] = [
    ['a:b', true],
    ['user:pass:word', true],
    ['user:two words', true],
    ['user!~9;:~', true],
    ['user:', false],
    [':word', false],
    ['us er:word', false],
    ['user:wo\trd', false],
    ['user', false],
    ['us\xe9r:word', false],
  ];
  for (const [text, isLogin] of rows) {
    const encoded = Buffer.from(text, 'latin1').toString('base64');
    t.equal(isUserAndPassword(encoded), isLogin, JSON.stringify(text));
  }
  t.notOk(isUserAndPassword('dXNlcjp3b3JkMTI'), 'its padding is missing');
  t.notOk(isUserAndPassword('dXNl cjp3b3Jk'), 'not base64');
  t.notOk(isUserAndPassword('dXNlcjp3b3Jk===='), 'more padding than there is');
});

t.test('references to values', async (t) => {
  const shell = [
    '$A',
    '$A_1',
    '$1',
    '$@',
    '$db_password',
    '$db_user',
    '$(get a)',
    '$(get',
    '`get`',
  ];
  const braces = ['{A}', '{A:-}', '{A:+b}', '{A:?not set}', '{a.b}', '{{ a }}'].map((x) => `$${x}`);
  const paths = ['$dir/a/b.pem', '$' + '{dir}/a'];
  const templates = [
    '{{ .A.b }}',
    '<%= @a %>',
    '%s',
    '%-v',
    '%[1]s',
    '%{a}',
    '%(a)s',
    '@A_B@',
    '*a-b',
  ];
  for (const value of [...shell, ...braces, ...paths, ...templates]) {
    t.ok(isReference(value), value);
    t.ok(isReference(`${value},`), `${value},`);
  }
  const others = [
    '$word',
    '$2y$05$x',
    '$A-b',
    '%',
    '%word',
    '@a@',
    '*1',
    'a$A',
    '{a}',
    '$Ab',
    'A',
    '$' + '{A:-b}',
  ];
  for (const value of others) t.notOk(isReference(value), value);
  t.ok(isReference('{{'.padEnd(511, 'x')));
  t.notOk(isReference('{{'.padEnd(512, 'x')), 'no reference is that long');
});
