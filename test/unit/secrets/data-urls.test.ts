import { gunzipSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { isSecretUrl } from '../../../lib/secrets/redact/data-urls.ts';
import { safe } from './marked.ts';

const R = 'Zq8mK2vW4tYxR6nB';
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');
const FORMS: Record<string, (text: string) => string> = {
  'percent-encoded': (text) => `data:,${encodeURIComponent(text)}`,
  'with a type': (text) => `data:text/plain;charset=utf-8;base64,${base64(text)}`,
  'in base64': (text) => `data:;base64,${base64(text)}`,
  packed: (text) => `data:;base64,${base64(gzipSync(text))}`,
};

/** What a reader of the bundle sees in a file of a config. */
async function shown(source: string): Promise<string> {
  const output = JSON.parse(await safe(JSON.stringify({ source }), { marks: true }));
  const body: string = output.source.slice(output.source.indexOf(',') + 1);
  const isBase64 = output.source.includes(';base64,');
  const bytes = isBase64 ? Buffer.from(body, 'base64') : Buffer.from(decodeURIComponent(body));
  const text = bytes[0] === 0x1f ? gunzipSync(bytes) : bytes;
  return text.toString().replace(/<redacted:\w+>/g, '#');
}

t.test('a file is shown without its secrets, in the form that it had', async (t) => {
  const text = `[connection]\nid=a\n[wifi-security]\npsk=correct horse battery\nflags=0 # ${'words '.repeat(9)}é\n`;
  const yaml = 'users:\n- name: a\n  user:\n    password: correct horse\n';
  const secret = `kind: Secret\ndata:\n  a: ${base64('word and words')}\nmetadata:\n  name: b\n`;
  for (const [name, form] of Object.entries(FORMS)) {
    t.equal(await shown(form(text)), text.replace('correct horse battery', '#'), name);
    t.equal(await shown(form(yaml)), yaml.replace('correct horse', '#'), name);
    t.equal(await shown(form(secret)), secret.replace(base64('word and words'), '#'), name);
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
      t.equal(await safe(config), config);
      t.equal(await safe(`got ${config}\n`), `got ${config}\n`, 'in a log');
    }
  }
});

t.test('a data URL that cannot be decoded, is binary, or has only a secret', (t) => {
  const binary = (length: number) => `data:;base64,${base64(Buffer.alloc(length, 0xff))}`;
  const rows: [source: string, isSecret: boolean][] = [
    ['data:,words', false],
    ['data:,100%25', false],
    ['data:,100%', true],
    ['data:,100%2', true],
    [`data:,a%20${R}`, true],
    [`data:,admin:${R}%0Auser:${R}B%0A`, true],
    ['data:,hunter22%0A', true],
    ['data:,12345678', false],
    [`data:,${'0a'.repeat(16)}`, true],
    [`data:,${'0a'.repeat(32)}%20%20a.tar`, false],
    ['data:,10.0.0.1/24', false],
    [`data:,${'words%20'.repeat(9)}${R}`, false],
    [`data:text/plain;BASE64,${base64(`a ${R}`)}`, true],
    [`data:;base64,${base64('words')}`, false],
    [`data:;base64,${base64('words').slice(1)}`, true],
    ['data:;base64,YWJ=YWJj', true],
    ['data:,%FF%FE', true],
    [`data:;base64,${base64('a\0b')}`, true],
    // Searched like all base64.
    [`data:;base64,${base64(gzipSync(R))}`, false],
    [binary(5790), true],
  ];
  for (const [source, isSecret] of rows) t.equal(isSecretUrl(source), isSecret, source);
  t.end();
});

t.test('a file of a few words, or one that cannot be read, is removed', async (t) => {
  t.equal(await safe(`got source data:,${R} b\n`), 'got source data:,# b\n');
  t.equal(
    await safe(`got "data:text/plain;base64,${base64(`a ${R}`)}"\n`),
    'got "data:text/plain;base64,#"\n',
  );
  t.equal(await safe('got data:;base64,#### b\n'), 'got data:;base64,# b\n');
  t.equal(await safe('image metadata:,x hunter22\n'), 'image metadata:,x hunter22\n');
  t.equal(await safe(`metadata:,${R} b\n`), `metadata:,${R} b\n`);
});
