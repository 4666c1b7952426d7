import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { dataUrl } from '../../../lib/render/ignition/data-url.ts';
import { type FileKind, SecretsIn } from '../../../lib/secrets/redact/secrets-in.ts';

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');

async function* once(text: string) {
  yield Buffer.from(text);
}

async function found(text: string, limit = 100) {
  const secrets = new SecretsIn(limit);
  await secrets.read(once(text));
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
  const rows: [text: string, secrets: string[]][] = [
    ['password=hunter 22\ngot password=hunter23 b\n', ['hunter 22', 'hunter23']],
    ['password=hunter22\npassword=hunter22\n', ['hunter22']],
    ['password=" hunter22 "\n', ['hunter22']],
    ['password=hunter2\n', []],
    ['user=hunter22\n', []],
    ['password: hunter22\nlist: [a]\n', ['hunter22']],
    [JSON.stringify({ auths: { r: { auth } } }), ['user:hunter22', 'hunter22', auth]],
    [JSON.stringify({ kind: 'Secret', data: { a: base64('openshift-etcd') } }), []],
    [JSON.stringify({ kind: 'Secret', data: { a: base64('Zq8mK2vW4tYx') } }), ['Zq8mK2vW4tYx']],
    [
      JSON.stringify({ kind: 'Secret', data: { a: base64('{"password":"hunter22"}') } }),
      ['hunter22'],
    ],
    [
      JSON.stringify({ kind: 'Secret', data: { a: base64('b=c\npassword=hunter22\n') } }),
      ['hunter22'],
    ],
    [JSON.stringify({ source: dataUrl('password=hunter22').source }), ['hunter22']],
    [JSON.stringify({ source: dataUrl('password=hunter22\n'.repeat(99)).source }), ['hunter22']],
    [JSON.stringify({ source: 'data:;base64,!' }), []],
    [JSON.stringify({ 'client-key-data': base64(key.text) }), [base64(key.text), ...key.lines]],
    [JSON.stringify({ password: packed }), [packed, 'hunter22', 'hunter22 and words']],
    [key.text, key.lines],
    [ssh.text, ssh.lines.slice(1)],
  ];
  for (const [text, secrets] of rows) {
    t.strictSame((await found(text)).toSorted(), secrets.toSorted(), text);
  }
});

t.test('a value of a Secret is learned as a whole', async (t) => {
  const key = armored('EC PRIVATE KEY', ec, 64);
  type Row = [name: string, value: string, secrets: string[]];
  const rows: Row[] = [
    ['password', 'hunter22\n', ['hunter22']],
    ['username', 'openshift-etcd', []],
    ['any', 'Zq8mK2vW4tYx', ['Zq8mK2vW4tYx']],
    ['any', 'correct horse battery', ['correct horse battery']],
    ['any', 'horse#battery', ['horse#battery']],
    ['any', 'https://db.example.com/?a=b', []],
    ['tls.key', key.text, key.lines],
    ['config', '{"password":"hunter22"}', ['hunter22']],
    ['config', 'user: b\npassword: hunter22\n', ['hunter22']],
    ['auth', base64('user:hunter22'), ['user:hunter22', 'hunter22', base64('user:hunter22')]],
    // With a character that no name, path or address has.
    ...[...'!#$%^&*+=~|;<>?(){}[]'].map(
      (symbol): Row => ['any', `horse${symbol}battery`, [`horse${symbol}battery`]],
    ),
    ...[...'-_./:@,'].map((symbol): Row => ['any', `horse${symbol}battery`, []]),
    ['any', '#$%^&*#$%^&*', []],
    ['any', `${'horse-'.repeat(42)}ab#`, [`${'horse-'.repeat(42)}ab#`]],
    ['any', `${'horse-'.repeat(42)}abc#`, []],
    ['any', `a ${'b-'.repeat(126)}c`, [`a ${'b-'.repeat(126)}c`]],
    ['any', `a ${'b-'.repeat(126)}cd`, []],
    ['password', `a ${'b-'.repeat(126)}cd`, [`a ${'b-'.repeat(126)}cd`]],
    // Placeholders, and what is hidden already.
    ['password', '$DB_PASSWORD', []],
    ['password', '<redacted:1a2b3c4d>', []],
    ['password', 'horse%40battery', ['horse%40battery', 'horse@battery']],
    ['password', 'horse%zzbattery', ['horse%zzbattery']],
    // What it holds.
    ['any', 'data:,password%3Dhunter22%0A', ['hunter22']],
    ['any', String(dataUrl('password=hunter22\n'.repeat(99)).source), ['hunter22']],
    ['any', base64('password=hunter22a'), [base64('password=hunter22a'), 'hunter22a']],
    ['any', base64('passwd=hunter22'), [base64('passwd=hunter22')]],
    ['any', '["password=hunter22"]', ['hunter22']],
    ['any', '[{"password":"hunter22"}]', ['hunter22']],
    ['any', '[ [{"password":"hunter22"}] ]', ['hunter22']],
    ['any', '{}{"password":"hunter22"}', ['hunter22']],
    ['any', ' { "password":"hunter22"}', ['hunter22']],
    ['any', '[a]password=hunter22', ['[a]password=hunter22']],
    ['any', 'one: two\nthree: four', []],
  ];
  for (const [name, value, secrets] of rows) {
    const all = new SecretsIn(100);
    await all.readValue(name, value);
    t.strictSame(all.secrets.toSorted(), secrets.toSorted(), `${name}: ${value}`);
  }
});

async function read(text: string, kind: FileKind = {}, limit = 100) {
  const secrets = new SecretsIn(limit);
  secrets.readText(text, kind);
  return secrets;
}

t.test('values of a whole file are complete', async (t) => {
  const ecKey = armored('EC PRIVATE KEY', ec, 64);
  const ini = '[a]\nhost = h.example.com\npassword = two words; & more\n';
  const url = 'http://u:p%40ss-word@proxy';
  const passwords = ['p%40ss-word', 'p@ss-word'];
  const rows: [text: string, kind: FileKind, secrets: string[]][] = [
    [ini, {}, ['two words; & more', 'two']],
    [JSON.stringify({ a: [{ b: ini }] }), {}, ['two words; & more', 'two']],
    [JSON.stringify({ source: dataUrl(ini).source }), {}, ['two words; & more', 'two']],
    [JSON.stringify({ a: JSON.stringify({ password: 'x y; z1' }) }), {}, []],
    [`proxy: ${url}\n`, {}, passwords],
    [JSON.stringify({ proxy: url }), {}, passwords],
    [
      'A_PASSWORD=$(get a b)\nB_PASSWORD=$PASSWORD_OF_B\nC_PASSWORD="$' + '{OTHER_PASSWORD}"\n',
      {},
      [],
    ],
    ['passwd: files sss systemd\n', {}, []],
    ['password=/etc/pki/password-file\n', {}, []],
    ['secret = app-credentials\nsecret = app#7credentials\n', {}, ['app#7credentials']],
    ['key = app-credentials\n', { names: /^key$/ }, ['app-credentials']],
    [JSON.stringify({ password: [['hunter22'], 'hunter23'] }), {}, ['hunter22', 'hunter23']],
    [JSON.stringify({ env: ['DB_PASSWORD=hunter 22', 'A=b c-d-e-f'] }), {}, ['hunter 22']],
    [JSON.stringify({ password: { user: 'app-user-name' }, n: [1, null] }), {}, []],
    [JSON.stringify({ key: 'app-credentials' }), { names: /^key$/ }, ['app-credentials']],
    [JSON.stringify({ a: '{"password":"hunter22"}' }), {}, ['hunter22']],
    [JSON.stringify({ a: ['x\ny', 'password=hunter 22\nb=c'] }), {}, ['hunter 22']],
    [JSON.stringify({ token: 'app#7credentials' }), {}, ['app#7credentials']],
    [JSON.stringify({ env: ['token=app#7credentials'] }), {}, ['app#7credentials']],
    [JSON.stringify({ a: 'x\ntoken = app#7credentials\n' }), {}, ['app#7credentials']],
    [JSON.stringify({ user: 'app#7credentials' }), {}, []],
    [JSON.stringify({ password: '/etc/db/password' }), {}, []],
    [JSON.stringify({ password: ' hunter22 ' }), {}, ['hunter22']],
    ['http://u:hunter22@h/a\n', {}, ['hunter22']],
    ['key = /etc/app/credentials\n', { names: /^key$/ }, []],
    // The key's lines are known: all of it in one line is not another secret.
    [`${ecKey.text}password=${ecKey.lines.join('')}\n`, {}, ecKey.lines],
    ['a b c-d-e-f-g\n', { read: () => [['password', 'c-d-e-f-g']] }, ['c-d-e-f-g']],
  ];
  for (const [text, kind, secrets] of rows) {
    const found = (await read(text, kind)).secrets.filter((value) => value !== 'two');
    t.strictSame(found.toSorted(), secrets.filter((value) => value !== 'two').toSorted(), text);
  }
});

t.test('the lines of a key, the most significant first', async (t) => {
  const wide = armored('ENCRYPTED PRIVATE KEY', randomBytes(1200), 64);
  const { secrets } = await read(wide.text);
  t.strictSame(secrets.slice(0, 2), [wide.lines[12], wide.lines[13]]);
  t.strictSame(secrets.toSorted(), wide.lines.toSorted());
  const escaped = JSON.stringify({ key: wide.text });
  t.ok((await read(escaped)).secrets.includes(wide.lines[10] ?? ''), 'in one line');
  const short = armored('PGP PRIVATE KEY BLOCK', randomBytes(150), 64);
  t.strictSame((await read(short.text)).secrets, short.lines);
  const cut = armored('RSA PRIVATE KEY', randomBytes(1200), 64);
  const unended = cut.text.slice(0, cut.text.indexOf('-----END'));
  t.strictSame((await read(unended)).secrets.slice(0, 2), [cut.lines[12], cut.lines[13]]);
});

t.test('secrets that do not fit are reported', async (t) => {
  const key = armored('EC PRIVATE KEY', ec, 64).text;
  const lines = (count: number) =>
    Array.from({ length: count }, (_, index) => `password=hunter-${index + 10}\n`).join('');
  const words = ['hunter-10', 'hunter-11'];
  const fits = await read(lines(2) + key, undefined, 2 + 3);
  t.strictSame(fits.cut, []);
  const keyLost = await read(key + lines(2), undefined, 2);
  t.strictSame(keyLost.secrets, words);
  t.strictSame(keyLost.cut, ['']);
  const [line = ''] = armored('EC PRIVATE KEY', ec, 64).lines;
  const oneLine = await read(key + lines(2), undefined, 3);
  t.strictSame(oneLine.secrets, [...words, line]);
  t.strictSame(oneLine.cut, [''], 'a key needs two lines');
  t.strictSame((await read(key + lines(2), undefined, 4)).cut, []);
  const wordLost = await read(lines(3) + lines(3), undefined, 2);
  t.strictSame(wordLost.secrets, words);
  t.strictSame(wordLost.cut, ['']);
  const long = (count: number) =>
    Array.from({ length: count }, () => `password=${randomBytes(4000).toString('hex')}\n`).join('');
  t.equal((await read(long(60))).secrets.length, 60);
  const tooLong = await read(long(140));
  t.strictSame(tooLong.cut, ['']);
  t.ok(tooLong.secrets.length < 140);
  const again = await read(lines(2) + lines(2), undefined, 2);
  t.strictSame(again.cut, [], 'equal ones count once');
  const many = (count: number) => {
    const [first, last] = ['{"password":"hunter22"}', '{"password":"hunter23"}'];
    return JSON.stringify([first, ...Array.from({ length: count - 2 }, () => '{}'), last]);
  };
  const all = await read(many(5000), {});
  t.strictSame(all.secrets.toSorted(), ['hunter22', 'hunter23']);
  await t.rejects(read(many(5001), {}), /only 5000 of the documents/);
  const bomb = gzipSync(Buffer.alloc(4 << 20)).toString('base64');
  await t.rejects(read(`password="${bomb}"\n`), /too large to be searched/);
  const large = gzipSync(Buffer.alloc(40 << 20)).toString('base64');
  const unread = new SecretsIn(100);
  t.throws(() => unread.readText(`password="${large}"\n`, {}), /too large/);
  t.strictSame(unread.secrets, [], 'what cannot be unpacked is no key');
  unread.readText('password=hunter22\n', {});
  t.strictSame(unread.secrets, ['hunter22'], 'the next file is read');
});

t.test('an Ignition config with hundreds of compressed files is searched to its end', async (t) => {
  const settings = Array.from({ length: 800 }, (_, at) => `setting-${at} = ${at * 7919}\n`).join(
    '',
  );
  const files = Array.from({ length: 400 }, (_, at) => ({
    path: `/etc/${at}.conf`,
    contents: dataUrl(`${settings}password=hunter-${at}-x7Kq9\n`),
  }));
  t.equal(files[0]?.contents.compression, 'gzip');
  const secrets = new SecretsIn(1000);
  const config = JSON.stringify({ ignition: { version: '3.4.0' }, storage: { files } });
  secrets.readText(config, {});
  t.equal(secrets.secrets.filter((each) => each.startsWith('hunter-')).length, files.length);
});

t.test('number, length and depth are limited', async (t) => {
  const two = 'password=hunter22\npassword=hunter23\n';
  t.strictSame(await found(two, 1), ['hunter22']);
  const longest = randomBytes(4096).toString('hex');
  t.strictSame(await found(`password="${longest}"\n`), [longest]);
  t.strictSame(await found(`password="${longest}a"\n`), []);
  const nested = (depth: number, password = 'hunter22'): string =>
    depth === 0
      ? JSON.stringify({ password })
      : JSON.stringify({ kind: 'Secret', data: { a: base64(nested(depth - 1, password)) } });
  t.ok((await found(nested(4))).includes('hunter22'));
  t.notOk((await found(nested(20))).includes('hunter22'));
  const all = new SecretsIn(100);
  await all.read(once(nested(4)));
  await all.readValue('a', nested(3, 'hunter33'));
  all.readText(nested(4, 'hunter44'), {});
  await all.read(once(nested(4, 'hunter55')));
  const words = all.secrets.filter((secret) => secret.startsWith('hunter'));
  t.strictSame(words, ['hunter22', 'hunter33', 'hunter44', 'hunter55'], 'each has its own depth');
});
