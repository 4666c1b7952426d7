import t from 'tap';
import { Budget } from '../../../lib/secrets/bytes/budget.ts';
import { withoutSecrets } from '../../../lib/secrets/redact/structure.ts';

const hidden = (value: unknown, name = '', text = (each: string) => each) =>
  withoutSecrets(value, name, { text, marks: { of: (secret) => `{${secret}}` }, budget: budget() });
const budget = () => new Budget({ bytes: 1 << 20, perByte: 0, depth: 1 });
const base64 = (text: string) => Buffer.from(text).toString('base64');

t.test('the meaning of fields', async (t) => {
  const table: Record<string, [value: unknown, expected: unknown]> = {
    'data of a Secret, marked as what it stands for': [
      { kind: 'Secret', data: { user: base64('me') } },
      { kind: 'Secret', data: { user: '{me}' } },
    ],
    'plain data of a Secret': [
      { kind: 'Secret', stringData: { user: 'me' } },
      { kind: 'Secret', stringData: { user: '{me}' } },
    ],
    'nested data of a Secret': [
      { kind: 'Secret', stringData: { a: { b: 'me' }, n: 1 } },
      { kind: 'Secret', stringData: { a: { b: '{me}' }, n: 1 } },
    ],
    'a Secret that does not say so': [
      { type: 'Opaque', metadata: {}, data: { user: base64('me') } },
      { type: 'Opaque', metadata: {}, data: { user: '{me}' } },
    ],
    'items of a list of Secrets': [
      { kind: 'SecretList', items: [{ data: { user: base64('me') } }, 'x'] },
      { kind: 'SecretList', items: [{ kind: 'Secret', data: { user: '{me}' } }, 'x'] },
    ],
    "a user's token": [{ user: { token: 'word' } }, { user: { token: '{word}' } }],
    'registries, all but the address': [
      { auths: { r: { auth: 'word', username: 'me', email: 'a@b', n: 1 }, s: 'x' } },
      { auths: { r: { auth: '{word}', username: '{me}', email: 'a@b', n: 1 }, s: 'x' } },
    ],
    "an Ignition's file that cannot be read": [{ source: 'data:,%' }, { source: '{data:,%}' }],
    'a token alone': [{ list: [{ token: 'word' }] }, { list: [{ token: '{word}' }] }],
    'an environment variable': [
      { name: 'DB_PASSWORD', value: 'word' },
      { name: 'DB_PASSWORD', value: '{word}' },
    ],
    'the next word of a command line': [
      ['app', '--password', 'word', 'more'],
      ['app', '--password', '{word}', 'more'],
    ],
    'a number': [{ password: 12345 }, { password: '{12345}' }],
    'a document in a text': [
      { text: '{"password":"word"}' },
      { text: JSON.stringify({ password: '{word}' }) },
    ],
    'a list under the name of a secret': [
      { password: ['word', 'other', { a: 'b' }] },
      { password: ['{word}', '{other}', { a: 'b' }] },
    ],
    'a header of a request': [
      [{ name: 'Authorization', value: 'Zq8mK2vW4tYxR6nB' }],
      [{ name: 'Authorization', value: '{Zq8mK2vW4tYxR6nB}' }],
    ],
    'an option with one dash': [
      ['-password', 'word', '--token=a', '--b.c-password', 'd'],
      ['-password', '{word}', '--token=a', '--b.c-password', '{d}'],
    ],
    'the name of the field that it is in': [
      ['a', { password: 'b' }],
      ['a', { password: '{b}' }],
    ],
    'an Ignition file, by its name': [
      { path: '/etc/db-password', contents: { source: 'data:,correcthorse', n: 1 } },
      {
        path: '/etc/db-password',
        contents: { source: `data:,${encodeURIComponent('{correcthorse}')}`, n: 1 },
      },
    ],
    'a file in the working directory': [
      { path: 'password', contents: { source: 'data:,correcthorse' } },
      { path: 'password', contents: { source: `data:,${encodeURIComponent('{correcthorse}')}` } },
    ],
    'other fields of a file': [
      { path: '/etc/x', contents: { password: 'word', source: 'data:,a' } },
      { path: '/etc/x', contents: { password: '{word}', source: 'data:,a' } },
    ],
    'a document in a file': [
      { source: 'data:,{"password":"word","a":[1]}' },
      { source: `data:,${encodeURIComponent('{"password":"{word}","a":[1]}')}` },
    ],
    'one word of a file': [
      { source: 'data:,admin%20Zq8mK2vW4tYxR6nB' },
      { source: `data:,${encodeURIComponent('admin {Zq8mK2vW4tYxR6nB}')}` },
    ],
    'a list in a text, under the name of its field': [
      { secret: '["two words","Zq8mK2vW4tYxR6nB"]' },
      { secret: '["two words","{Zq8mK2vW4tYxR6nB}"]' },
    ],
    'a list of Secrets in a list': [
      { kind: 'List', items: [{ kind: 'SecretList', items: [{ data: { user: base64('me') } }] }] },
      {
        kind: 'List',
        items: [{ kind: 'SecretList', items: [{ data: { user: '{me}' }, kind: 'Secret' }] }],
      },
    ],
    'a text that is named contents': [
      { path: '/etc/x', contents: '{"password":"word"}' },
      { path: '/etc/x', contents: '{"password":"{word}"}' },
    ],
    'a switch and a number': [
      { password: true, passphrase: 0, other: 12345678 },
      { password: true, passphrase: '{0}', other: 12345678 },
    ],
  };
  for (const [name, [value, expected]] of Object.entries(table)) {
    const before = structuredClone(value);
    t.strictSame(hidden(value), expected, name);
    t.strictSame(value, before, `${name}: the value itself stays`);
  }
  t.equal(hidden('word', 'password'), '{word}');
  t.equal(hidden('word', 'token'), '{word}', 'of an object that is too large to be parsed');
});

t.test('values without secrets are returned unchanged', async (t) => {
  const values = [
    { kind: 'ConfigMap', data: { user: base64('me') } },
    { kind: 'Pod', type: 'x', metadata: {}, data: { user: 'me' } },
    { type: 'Opaque', data: { user: 'me' } },
    { kind: 'PodList', items: [{ data: { user: 'me' } }] },
    { kind: 'Secret', data: { empty: '' }, stringData: { none: '<redacted:1>' } },
    { token: '', auths: { r: { auth: '' } } },
    { metadata: {}, data: { user: 'me' } },
    { type: 12, metadata: {}, data: { user: 'me' } },
    { kind: 'SecretList', other: [{ data: { user: 'me' } }], items: 'word' },
    { contents: { source: 'data:,correcthorse' } },
    { path: 12, contents: { source: 'data:,correcthorse' } },
    { path: '/etc/db-password', contents: 'data:,correcthorse' },
    { path: '/etc/db-password', other: { source: 'data:,correcthorse' } },
    { path: '/etc/db-password', contents: { other: 'data:,correcthorse', source: 'word' } },
    { path: '/etc/password/x', contents: { source: 'data:,correcthorse' } },
    { path: '/etc/passwd', contents: { source: 'data:,hold' } },
    { source: 'word', other: 'data:,hunter22', list: ['data:,hunter22'] },
    { text: '["--verbose","word"]', more: ' [1]', source: 'data:,{"a":1}' },
    { token: { description: 'of an API' } },
    { auths: ['r'] },
    { auths: null, token: null, data: null, items: null, source: null },
    { auths: 'word' },
    { kind: 'SecretList', items: {} },
    { name: 'DB_PASSWORD', value: 12 },
    { name: 12, value: 'word' },
    [{ name: 'PATH', value: 'word' }],
    ['--password'],
    ['password', 'word', '--a=password', 'word', 'a--password', 'word', '--', 'word'],
    { source: '/dev/sda', other: 'data:,word' },
    { token: '/run/secrets/token', password: null, passphrase: undefined },
    { name: 'DB_PASSWORD', value: '<redacted:1>' },
    { name: 'LANG', value: 'C' },
    ['app', '--verbose', 'word', 'password', 'word'],
    { text: '{"a":1}', broken: '{"password":"word"' },
    [1, true, null],
    'word',
  ];
  for (const value of values) t.equal(hidden(value), value, JSON.stringify(value));
});

t.test('strings in JSON and YAML are redacted by the rule for text', async (t) => {
  const rule = (text: string) => text.replace('word', 'mark');
  for (const quoted of [
    'a "word"',
    "a 'word'",
    'a\nword',
    'a\\word',
    'a<word',
    'a>word',
    'a&word',
    '"word"',
  ]) {
    t.strictSame(hidden({ x: quoted }, '', rule), { x: rule(quoted) }, quoted);
  }
  t.strictSame(hidden({ x: 'a word' }, '', rule), { x: 'a word' }, 'others are found as written');
});

t.test('nested documents have a maximum depth', async (t) => {
  const nested = (depth: number): string =>
    JSON.stringify(depth === 0 ? { password: 'word' } : { x: nested(depth - 1) });
  const leaks = (depth: number) => !String(hidden(nested(depth))).includes('{word}');
  t.notOk(leaks(0));
  t.notOk(leaks(5));
  t.ok(leaks(6), 'deeper ones are text');
});

t.test('files of an Ignition config share a budget and the maximum depth', async (t) => {
  const text = (each: string) => each;
  const marks = { of: (secret: string) => `{${secret}}` };
  const files = [{ source: 'data:,words' }, { source: 'data:,words' }, { source: 'data:,words' }];
  const small = new Budget({ bytes: 10, perByte: 0, depth: 1 });
  t.strictSame(withoutSecrets(files, '', { text, marks, budget: small }), [
    { source: 'data:,words' },
    { source: 'data:,words' },
    { source: '{data:,words}' },
  ]);
  const nested = (depth: number): string =>
    JSON.stringify(depth === 0 ? files[0] : { x: nested(depth - 1) });
  t.equal(hidden(nested(4)), nested(4));
  t.match(hidden(nested(5)), '{data:,words}');
});

t.test('the text rule is applied to files', async (t) => {
  const rule = (text: string) => text.replace('word', 'mark');
  t.strictSame(hidden({ source: 'data:,a%20word' }, '', rule), { source: 'data:,a%20mark' });
});

t.test('a value that is secret only by its place may be ordinary elsewhere', async (t) => {
  const certainties: string[] = [];
  const marks = {
    of: (secret: string, certainty = 'certain') => {
      certainties.push(`${certainty} ${secret}`);
      return 'x';
    },
  };
  const value = {
    secret: { kind: 'Secret', stringData: { user: 'me', password: 'word', n: { token: 'y' } } },
    auths: { r: { auth: 'word', username: 'me' } },
    password: 'word',
    source: 'data:,%',
    user: { token: 'word' },
  };
  withoutSecrets(value, '', { text: (text) => text, marks, budget: budget() });
  t.strictSame(certainties, [
    'possible me',
    'certain word',
    'possible y',
    'certain word',
    'possible me',
    'certain word',
    'certain data:,%',
    'certain word',
  ]);
});
