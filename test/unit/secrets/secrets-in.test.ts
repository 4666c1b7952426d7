import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { dataUrl } from '../../../lib/ignition/data-url.ts';
import type { Redactor } from '../../../lib/secrets/redact/redactor.ts';
import { SecretsIn } from '../../../lib/secrets/redact/secrets-in.ts';

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');

async function* once(text: string) {
  yield Buffer.from(text);
}

async function found(text: string, format: keyof Redactor = 'text', limit = 100) {
  const secrets = new SecretsIn(limit);
  await secrets.read(once(text), format);
  return secrets.secrets;
}

/** A key's body in lines of a given length: not a valid key, but with a key's first line. */
function armored(kind: string, body: Buffer, width: number) {
  const lines = base64(body).match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
  const text = [`-----BEGIN ${kind}-----`, ...lines, `-----END ${kind}-----`, ''].join('\n');
  const bare = lines.map((line) => line.replace(/=+$/, ''));
  return { text, lines: bare.filter((line) => line.length >= 16) };
}

const ec = Buffer.concat([Buffer.from('30770201010420', 'hex'), randomBytes(114)]);
const openssh = Buffer.concat([Buffer.from('openssh-key-v1\0'), randomBytes(250)]);

t.test('secrets found in a file by name or form are learned verbatim', async (t) => {
  const auth = base64('user:hunter22');
  const key = armored('EC PRIVATE KEY', ec, 64);
  const packed = base64(gzipSync('got password=hunter22 and words'));
  const ssh = armored('OPENSSH PRIVATE KEY', openssh, 70);
  const rows: [text: string, format: keyof Redactor, secrets: string[]][] = [
    ['password=hunter 22\ngot password=hunter23 b\n', 'text', ['hunter 22', 'hunter23']],
    ['password=hunter22\npassword=hunter22\n', 'text', ['hunter22']],
    ['password=" hunter22 "\n', 'text', ['hunter22']],
    ['password=hunter2\n', 'text', []],
    ['user=hunter22\n', 'text', []],
    ['password: hunter22\nlist: [a]\n', 'yaml', ['hunter22']],
    [JSON.stringify({ auths: { r: { auth } } }), 'json', ['user:hunter22', 'hunter22', auth]],
    [JSON.stringify({ kind: 'Secret', data: { a: base64('openshift-etcd') } }), 'json', []],
    [
      JSON.stringify({ kind: 'Secret', data: { a: base64('Zq8mK2vW4tYx') } }),
      'json',
      ['Zq8mK2vW4tYx'],
    ],
    [
      JSON.stringify({ kind: 'Secret', data: { a: base64('{"password":"hunter22"}') } }),
      'json',
      ['hunter22'],
    ],
    [
      JSON.stringify({ kind: 'Secret', data: { a: base64('b=c\npassword=hunter22\n') } }),
      'json',
      ['hunter22'],
    ],
    [JSON.stringify({ source: dataUrl('password=hunter22').source }), 'json', ['hunter22']],
    [
      JSON.stringify({ source: dataUrl('password=hunter22 '.repeat(99)).source }),
      'json',
      ['hunter22'],
    ],
    [JSON.stringify({ source: 'data:;base64,!' }), 'json', []],
    [
      JSON.stringify({ 'client-key-data': base64(key.text) }),
      'json',
      [base64(key.text), ...key.lines],
    ],
    [JSON.stringify({ password: packed }), 'json', [packed, 'hunter22']],
    [key.text, 'text', key.lines],
    [ssh.text, 'text', ssh.lines.slice(1)],
  ];
  for (const [text, format, secrets] of rows) {
    t.strictSame((await found(text, format)).toSorted(), secrets.toSorted(), text);
  }
});

t.test('a value of a Secret is learned as a whole', async (t) => {
  const key = armored('EC PRIVATE KEY', ec, 64);
  const rows: [name: string, value: string, secrets: string[]][] = [
    ['password', 'hunter22\n', ['hunter22']],
    ['username', 'openshift-etcd', []],
    ['any', 'Zq8mK2vW4tYx', ['Zq8mK2vW4tYx']],
    ['tls.key', key.text, key.lines],
    ['config', '{"password":"hunter22"}', ['hunter22']],
    ['config', 'user: b\npassword: hunter22\n', ['hunter22']],
    ['auth', base64('user:hunter22'), ['user:hunter22', 'hunter22', base64('user:hunter22')]],
  ];
  for (const [name, value, secrets] of rows) {
    const all = new SecretsIn(100);
    await all.readValue(name, value);
    t.strictSame(all.secrets.toSorted(), secrets.toSorted(), `${name}: ${value}`);
  }
});

t.test('number, length and depth are limited', async (t) => {
  const two = 'password=hunter22\npassword=hunter23\n';
  t.strictSame(await found(two, 'text', 1), ['hunter22']);
  const longest = randomBytes(4096).toString('hex');
  t.strictSame(await found(`password="${longest}"\n`), [longest]);
  t.strictSame(await found(`password="${longest}a"\n`), []);
  const nested = (depth: number): string =>
    depth === 0
      ? JSON.stringify({ password: 'hunter22' })
      : JSON.stringify({ kind: 'Secret', data: { a: base64(nested(depth - 1)) } });
  t.ok((await found(nested(4), 'json')).includes('hunter22'));
  t.notOk((await found(nested(5), 'json')).includes('hunter22'));
  const both = new SecretsIn(100);
  await both.read(once(nested(4)), 'json');
  await both.readValue('a', nested(3));
  await both.read(once(nested(4).replace('22', '33')), 'json');
  t.ok(both.secrets.includes('hunter22'), 'each file has its own depth');
});
