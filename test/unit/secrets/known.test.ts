import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { isDistinctive, KnownSecrets } from '../../../lib/secrets/redact/known.ts';
import { createRedactor } from '../../../lib/secrets/redact/redactor.ts';
import { redacted } from './streams.ts';
import { traces } from './traces.ts';

const text = async (known: readonly string[], input: string) => {
  const redactor = createRedactor(Buffer.alloc(32, 1), known);
  return (await redacted(redactor.text, Buffer.from(input))).toString();
};
const base64 = (value: string | Buffer) => Buffer.from(value).toString('base64');

const SECRET = 'q9~W<x&"z/k+L';

t.test('a known secret is found however it is written', async (t) => {
  const json = JSON.stringify(SECRET).slice(1, -1);
  const forms: Readonly<Record<string, string>> = {
    plain: SECRET,
    'in JSON': json,
    'in JSON in JSON': JSON.stringify(json).slice(1, -1),
    'in JSON of Go': json.replace('<', '\\u003c').replace('&', '\\u0026'),
    'percent-encoded': encodeURIComponent(SECRET),
    'in hex': Buffer.from(SECRET).toString('hex'),
    'as numbers': `[${[...Buffer.from(SECRET)].join(' ')}]`,
    'in base64': base64(SECRET),
    'in base64 with something before it': base64(`a${SECRET}`),
    'in base64 with more before it': base64(`ab${SECRET}cd`),
    'in base64 for URLs': Buffer.from(SECRET).toString('base64url'),
    'in base64 of base64': base64(base64(SECRET)),
    'in gzip': base64(gzipSync(`words and words and ${SECRET} and words`)),
    'in the middle of a word': `xx${SECRET}yy`,
  };
  for (const [name, form] of Object.entries(forms)) {
    const output = await text([SECRET], `before ${form} after\n`);
    t.strictSame(traces(Buffer.from(output), [SECRET]), [], name);
    t.match(output, /^before .* after\n$/, name);
  }
});

t.test('equal secrets have equal marks, different ones different marks', async (t) => {
  const other = 'another-Secret-77';
  const input = [
    `plain ${SECRET}`,
    `password=${JSON.stringify(SECRET)}`,
    `encoded ${base64(SECRET)}`,
    `DB_PASSWORD='${other}'`,
    `{"password":"${other}"}`,
  ].join('\n');
  const marks = (await text([SECRET], input)).match(/<redacted:\w{8}>/g) ?? [];
  t.equal(marks.length, 5);
  t.equal(new Set(marks.slice(0, 3)).size, 1);
  t.equal(new Set(marks.slice(3)).size, 1);
  t.equal(new Set(marks).size, 2);
});

t.test('a different bundle has different marks', async (t) => {
  const marked = async (key: Buffer) =>
    redacted(createRedactor(key, []).text, Buffer.from('password=hunter22'));
  t.notOk((await marked(randomBytes(32))).equals(await marked(randomBytes(32))));
});

t.test('values that do not look like secrets are not searched for', async (t) => {
  const input = 'short password1 aaaaaaaaaaaa kubernetes default\n';
  t.equal(await text(['short', 'aaaaaaaaaaaa', 'kubernetes', 'default', ''], input), input);
});

t.test('a word in different case is a different word', async (t) => {
  t.equal(await text(['SeCrEt-42-xyz'], 'secret-42-xyz\n'), 'secret-42-xyz\n');
});

t.test("a part of a host's key is found", async (t) => {
  const pem = String(
    generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    }),
  );
  const lines = pem.split('\n').filter((line) => /^[A-Za-z0-9+/=]{16,}$/.test(line));
  const output = await text(lines, `got ${lines[1]} and ${base64(pem)}\n`);
  t.strictSame(traces(Buffer.from(output), lines), []);
});

t.test('each notation is searched for separately', async (t) => {
  const secret = 'hun ter~<42>';
  const nested = JSON.stringify(`"${secret}"`).slice(1, -1);
  const forms = [
    encodeURIComponent(secret),
    secret.replace('<', '\\u003c').replace('>', '\\u003e'),
    secret.replace('<', '\\\\u003c').replace('>', '\\\\u003e'),
    nested,
    Buffer.from(secret).toString('hex'),
    [...Buffer.from(secret)].join(' '),
    [...Buffer.from(secret)].map((byte) => `0x${byte.toString(16)}`).join(', '),
    ...['', 'a', 'ab'].flatMap((before) => [
      base64(`${before}${secret}`),
      base64(base64(`${before}${secret}`)),
      base64(`x${base64(`${before}${secret}`)}`),
    ]),
  ];
  for (const form of forms) {
    const marked = await text([secret], `before ${form} after\n`);
    t.notOk(marked.includes(form), form);
    t.notOk(marked.includes(form.slice(-8)), `${form}: all of it`);
    t.equal(
      await text([], `before ${form} after\n`),
      `before ${form} after\n`,
      'nothing else does',
    );
  }
});

t.test('in base64 for URLs', async (t) => {
  const secret = '\u00ff\u00fe~~??>>~~??>>';
  const form = Buffer.from(secret).toString('base64url');
  t.match(form, /[-_]/);
  t.notMatch(await text([secret], `got ${form}\n`), form.slice(4, -4));
});

/** What is left of a text without its known secret, which becomes `#`. */
function without(secret: string, input: string): string {
  const known = new KnownSecrets([secret], { of: (found) => (found === secret ? '#' : '?') });
  let [result, end] = ['', 0];
  for (const finding of known.find(Buffer.from(input)).toSorted((a, b) => a.start - b.start)) {
    result += input.slice(end, finding.start) + finding.by;
    end = finding.end;
  }
  return result + input.slice(end);
}

t.test('in base64 each character that holds only of the secret is removed', async (t) => {
  for (const secret of ['Zq8mK2vW', 'Zq8mK2vW4', 'Zq8mK2vW4t', 'Zq8mK2vW4tY']) {
    for (let before = 0; before < 6; before++) {
      for (let after = 0; after < 4; after++) {
        const encoded = base64(`${'a'.repeat(before)}${secret}${'b'.repeat(after)}`);
        const first = Math.ceil((before * 8) / 6);
        const last = Math.floor(((before + secret.length) * 8) / 6);
        const expected = `x ${encoded.slice(0, first)}#${encoded.slice(last)} y`;
        t.equal(without(secret, `x ${encoded} y`), expected, `${before} ${secret} ${after}`);
      }
    }
  }
  const other = `A${base64('Zq8mK2vW4').slice(1)}`;
  t.equal(without('Zq8mK2vW4', other), other, 'each character counts');
});

t.test('of other notations exactly the secret is removed', async (t) => {
  t.equal(without('Zq8mK2vW', 'aZq8mK2vWb Zq8mK2vW'), 'a#b #');
  t.equal(without('a b/c&d=', 'xa+b%2Fc%26d%3Dx'), 'x#x');
});

t.test('what stands before a secret can look like an escape with it', async (t) => {
  const secret = '2aZq8mK2vW';
  for (const before of ['%', '\\x', '\\u00', '&#']) {
    t.equal(without(secret, `x${before}${secret} x`), `x${before}# x`, before);
  }
});

t.test('which secrets can be searched for', async (t) => {
  const table: [secret: string, expected: boolean][] = [
    ['abcd123', false],
    ['abcd1234', true],
    ['aaabbb11', false],
    ['aaabbc11', true],
    ['abcdefghijk', false],
    ['abcdefghijkl', true],
    ['abcdefghijK', true],
    ['abcdefgh-jk', true],
    ['äbcdefghijk', true],
    ['12345678', true],
    ['', false],
  ];
  for (const [secret, expected] of table) t.equal(isDistinctive(secret), expected, secret);
  t.equal(without('abcd123', 'abcd123'), 'abcd123');
});
