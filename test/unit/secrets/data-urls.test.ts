import { gzipSync } from 'node:zlib';
import t from 'tap';
import { Budget } from '../../../lib/secrets/bytes/budget.ts';
import { bareSecrets, bodyOf, isSecretUrl } from '../../../lib/secrets/redact/data-urls.ts';
import { safe } from './marked.ts';

const R = 'Zq8mK2vW4tYxR6nB';
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');
const FORMS: Record<string, (text: string) => string> = {
  'percent-encoded': (text) => `data:,${encodeURIComponent(text)}`,
  'with a type': (text) => `data:text/plain;charset=utf-8;base64,${base64(text)}`,
  'in base64': (text) => `data:;base64,${base64(text)}`,
  packed: (text) => `data:;base64,${base64(gzipSync(text))}`,
};

const budget = (bytes = 1 << 20) => new Budget({ bytes, perByte: 0, depth: 1 });

async function shown(config: object): Promise<string> {
  const { source } = JSON.parse(await safe(JSON.stringify(config), { format: 'json' }));
  return bodyOf(source, budget())?.text.replace(/<redacted:\w+>/g, '#') ?? source;
}

t.test('a file is shown without its secrets, in the form that it had', async (t) => {
  const text = `[connection]\nid=a\n[wifi-security]\npsk=correct horse; battery\nflags=0 # ${'words '.repeat(9)}\n`;
  const yaml = 'users:\n- name: a\n  user:\n    password: correct horse\n';
  const json = JSON.stringify({ auths: { r: { auth: 'word', email: 'a@b' } }, token: 'word' });
  for (const [name, form] of Object.entries(FORMS)) {
    t.equal(await shown({ source: form(text) }), text.replace('correct horse; battery', '#'), name);
    t.equal(await shown({ source: form(yaml) }), yaml.replace('correct horse', '#'), name);
    t.equal(await shown({ source: form(json) }), json.replaceAll('"word"', '"#"'), name);
    const source = (await safe(JSON.stringify({ source: form(text) }), { format: 'json' })).slice(
      11,
    );
    t.ok(source.startsWith(form('').slice(0, 9)), source);
    t.equal(source.includes('base64,H4sI'), name === 'packed', source);
  }
});

t.test('a file without secrets comes through byte for byte', async (t) => {
  for (const form of Object.values(FORMS)) {
    for (const text of [
      '',
      '1\n',
      'sno-0.example.com\n',
      'server ntp.example.com iburst\n',
      '# words\n[a]\nb=c\n',
    ]) {
      const config = JSON.stringify({ path: '/etc/x', contents: { source: form(text) } });
      t.equal(await safe(config, { format: 'json' }), config);
      t.equal(await safe(`got ${config}\n`), `got ${config}\n`, 'in a log');
    }
  }
});

t.test('what cannot be read goes as a whole', async (t) => {
  for (const source of [
    'data:,100%',
    'data:;base64,####',
    `data:;base64,${base64(Buffer.from([0xff, 0xfe, 1, 2]))}`,
    `data:;base64,${base64(Buffer.from('a\0b'))}`,
    `data:;base64,${base64(gzipSync('words').subarray(0, 20))}`,
    `data:;base64,${base64(gzipSync(Buffer.alloc((1 << 20) + 1, 'a')))}`,
    `data:,${'a'.repeat((1 << 20) + 1)}`,
  ]) {
    t.match(await safe(JSON.stringify({ source }), { format: 'json' }), /^\{"source":"#"\}$/);
  }
});

t.test('a file with a Secret is shown without its values', async (t) => {
  const text = `kind: Secret\ndata:\n  a: ${base64('word and words')}\nmetadata:\n  name: b # ${'words '.repeat(9)}\n`;
  const json = JSON.stringify({ headers: { Authorization: `Token ${R}` }, passphrase: 'word' });
  for (const form of Object.values(FORMS)) {
    t.equal(await shown({ source: form(text) }), text.replace(base64('word and words'), '#'));
    t.equal(await shown({ source: form(json) }), json.replace(R, '#').replace('word"', '#"'));
  }
});

t.test('all files of a stream have one budget', (t) => {
  const source = `data:;base64,${base64(gzipSync('a'.repeat(1000)))}`;
  const all = budget(2500);
  t.strictSame(
    [1, 2, 3].map(() => bodyOf(source, all)?.text.length),
    [1000, 1000, undefined],
  );
  t.equal(bodyOf('data:,abc', budget(2)), undefined);
  t.equal(bodyOf('data:,abc', budget(3))?.text, 'abc');
  t.equal(bodyOf(source, budget(1000))?.text.length, 1000);
  t.equal(bodyOf(source, budget(0)), undefined);
  t.end();
});

t.test('a file that is nothing but a secret', async (t) => {
  const table: [text: string, name: string, secrets: string[]][] = [
    [`${R}\n`, '', [R]],
    ['hunter22\n', '', ['hunter22']],
    [`admin ${R}\n`, '', [R]],
    [`admin:${R}\nuser:${R}B\n`, '', [R, `${R}B`]],
    ['correcthorse', 'db-password', ['correcthorse']],
    ['correct horse battery\n', 'db-password', ['correct horse battery']],
    ['correct horse battery', 'x', []],
    ['correct\nhorse', 'db-password', []],
    ['length = 12', 'db-password', []],
    ['psk=correcthorse', '', ['correcthorse']],
    ['a.password: "correcthorse"\n', '', ['correcthorse']],
    ['correcthorse', 'x', []],
    ['12345678', '', []],
    [`${'0a'.repeat(16)}\n`, 'machine-id', []],
    [`${'0a'.repeat(32)}  a.tar\n`, 'a.sha256', []],
    ['0a'.repeat(16), 'x', ['0a'.repeat(16)]],
    ['sno-0.example.com', '', []],
    ['10.0.0.1/24', '', []],
    [`words and words and words and words ${R}`, '', []],
    [`${R} `.repeat(16), '', []],
    [`a b c d e ${R}`, '', [R]],
    [`a b c d e f ${R}`, '', []],
    [R.repeat(16), '', [R.repeat(16)]],
    [`${R.repeat(16)}a`, '', []],
    ['', '', []],
    ['= :', '', []],
    ['hunter22', 'x-id', ['hunter22']],
    ['0a'.repeat(16), 'x-id', []],
    ['6b6bdc57-35d7-4a39-8c8f-6ac5a6cf0f6a\n', 'uuid', []],
    [`a:b:${'0a'.repeat(16)}`, '', ['0a'.repeat(16)]],
    ['<redacted:1a2b3c4d>', 'password', []],
    [`a=<redacted:1a2b3c4d>`, '', []],
  ];
  for (const [text, name, secrets] of table) t.strictSame(bareSecrets(text, name), secrets, text);
  const file = { path: '/etc/db-password', contents: { source: 'data:,correcthorse' } };
  const output = await safe(JSON.stringify(file), { format: 'json' });
  t.match(decodeURIComponent(output), /"source":"data:,<redacted:\w{8}>"/);
});

t.test('bytes that look like gzip by one of two bytes are text', (t) => {
  t.equal(bodyOf('data:,%1Fwords', budget())?.text, '\x1fwords');
  t.equal(bodyOf('data:,%C2%8Bwords', budget())?.text, '\u008bwords');
  t.end();
});

t.test('a data URL that cannot be decoded, is binary, or has only a secret', (t) => {
  const binary = (length: number) => `data:;base64,${base64(Buffer.alloc(length, 0xff))}`;
  const rows: [source: string, isSecret: boolean][] = [
    ['data:,words', false],
    ['data:,100%25', false],
    ['data:,100%', true],
    ['data:,100%2', true],
    [`data:,a%20${R}`, true],
    [`data:text/plain;BASE64,${base64(`a ${R}`)}`, true],
    [`data:;base64,${base64('words')}`, false],
    [`data:;base64,${base64('words').slice(1)}`, true],
    ['data:;base64,YWJ=YWJj', true],
    ['data:;base64,YWI%3D', true],
    ['data:,%FF%FE', true],
    [`data:;base64,${base64(gzipSync(R))}`, false],
    // Longer ones are searched like all base64.
    [binary(576), true],
    [binary(579), false],
  ];
  for (const [source, isSecret] of rows) t.equal(isSecretUrl(source), isSecret, source);
  t.end();
});

t.test('in a log a file of a few words, or one that cannot be read, is removed', async (t) => {
  t.equal(await safe(`got source data:,${R} b\n`), 'got source data:,# b\n');
  t.equal(
    await safe(`got "data:text/plain;base64,${base64(`a ${R}`)}"\n`),
    'got "data:text/plain;base64,#"\n',
  );
  t.equal(await safe('got data:;base64,#### b\n'), 'got data:;base64,# b\n');
  t.equal(await safe('image metadata:,x hunter22\n'), 'image metadata:,x hunter22\n');
  t.equal(await safe(`metadata:,${R} b\n`), `metadata:,${R} b\n`);
});
