import { generateKeyPairSync } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { expectMarked, safe } from './marked.ts';

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');
const wrapped = (text: string, width: number) => text.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];

const DOCUMENT = 'first line\npassword = hunter22\nand a third line of words\n';
const secret = base64(DOCUMENT);
const plain = base64('first line\nuser = hunter22\nand a third line of ordinary words\n');

t.test('a base64 document with a secret is removed as a whole', async (t) => {
  await expectMarked(t, [
    `payload «${secret}» b`,
    `"payload":"«${secret}»","b"`,
    `payload=«${Buffer.from(DOCUMENT).toString('base64url')}» b`,
    `payload ${plain} b`,
    `«${secret}»`,
    `«${base64(gzipSync(DOCUMENT))}»\n`,
    `«${base64(secret)}» b`,
    // Preceded by text that looks like base64.
    base64('words=x'),
    base64('secret=1'),
    // Shorter than 24 characters is not decoded.
    `a «${base64('password=hunter22a')}» b`,
    `a ${base64('password=hunter22')} b`,
    // Padding beyond that of base64 is not part of it.
    `a «${base64(`${DOCUMENT}a`)}»= b`,
    // The letter of an escape sequence is not part of the text; another letter is.
    ...['n', 'r', 't'].map((letter) => `a\\${letter}«${secret}» b`),
    `a\\w${secret} b`,
    `a n${secret} b`,
  ]);
});

t.test('a wrapped document is removed with all its lines', async (t) => {
  const marked = (lines: readonly string[], before: string, end = '\n') =>
    lines.map((line) => `${before}«${line}»${end}`).join('');
  const lines = wrapped(secret, 32);
  const few = wrapped(secret, 64);
  await expectMarked(t, [
    `a\n${marked(lines, '')}two words\n`,
    `a\n${marked(few, '    ')}b\n`,
    `a\n${marked(few, 'log: ')}log: two words\n`,
    marked(lines, '', '\r\n'),
    marked(lines, '').slice(0, -1),
    `a: «${wrapped(secret, 32).join('»\\n«')}» b`,
    `a: "«${wrapped(secret, 32).join('»\\\\n«')}»", b`,
    `${wrapped(plain, 32).join('\n')}\n`,
    // A real newline after an escaped one ends it.
    `a: «${lines[0]}»\\n«${lines[1]}»\n   ${lines[2]}\n`,
  ]);
  // Another indentation, or trailing text, separates the parts: neither of them is a document.
  const [first = '', ...rest] = wrapped(base64(gzipSync(DOCUMENT)), 32);
  await expectMarked(t, [`${first}\n  ${rest.join('\n  ')}\n`]);
});

t.test('a wrapped document may cross blocks of the stream', async (t) => {
  const filler = `${'ordinary words '.repeat(4)}\n`.repeat(1074);
  const lines = wrapped(secret, 30);
  for (let skip = 0; skip < 5; skip++) {
    const before = filler.slice(61 * skip);
    const input = `${before}${lines.map((line) => `«${line}»\n`).join('')}`;
    await expectMarked(t, [`${input}${filler}`, input], { size: 61 });
  }
});

t.test('a long column is decoded in pieces of 256 KiB', async (t) => {
  const text = `password = hunter22\n${'ordinary words and '.repeat(20_000)}`;
  const lines = wrapped(base64(text), 63);
  const count = (1 << 18) / 64;
  const marked = lines.map((line, at) => (at < count ? `«${line}»` : line));
  await expectMarked(t, [`${'two words\n'.repeat(9000)}${marked.join('\n')}\n`]);
});

t.test('documents are decoded up to three levels deep', async (t) => {
  const nested = (times: number): string => (times === 0 ? DOCUMENT : base64(nested(times - 1)));
  await expectMarked(t, [`a «${nested(3)}» b`, `a ${nested(4)} b`]);
});

t.test('digests and identifiers are not documents', async (t) => {
  await expectMarked(t, [
    `sha256:${'0a1b2c3d'.repeat(8)}`,
    `sha512-${'ABCDEF01'.repeat(16)}`,
    `/${'a-path-of-words/'.repeat(9)}`,
    base64(Buffer.alloc(90, 0xfe)),
  ]);
});

const KNOWN = 'k?n~o>wn-secret';

t.test('only a known secret is removed', async (t) => {
  const way = { known: [KNOWN, 'second-Secret'] };
  await expectMarked(
    t,
    [
      `a «${KNOWN}» b second-Secre «second-Secret»`,
      `a=«${encodeURIComponent(KNOWN)}»&b`,
      `"«k?n~o\\u003ewn-secret»"`,
      `hex «${Buffer.from(KNOWN).toString('hex')}» b`,
      `[«${[...Buffer.from(KNOWN)].join(' ')}»]`,
      `{«${[...Buffer.from(KNOWN)].map((byte) => `0x${byte.toString(16)}`).join(', ')}»}`,
      `«${KNOWN}»«${KNOWN}»`,
    ],
    way,
  );
  // What shares a character with adjacent base64 stays.
  for (const before of ['', 'u', 'us']) {
    for (const after of ['', 'x', 'xy', 'xyz']) {
      const bytes = Buffer.concat([
        Buffer.alloc(9 + before.length, 0xfe),
        Buffer.from(KNOWN),
        Buffer.alloc(9 + after.length, 0xfe),
      ]);
      const output = await safe(`a ${base64(bytes)} b`, way);
      const head = Math.ceil(((9 + before.length) * 8) / 6);
      const tail = Math.ceil(((9 + after.length) * 8 + ((3 - (bytes.length % 3)) % 3) * 8) / 6);
      const text = base64(bytes);
      t.equal(output, `a ${text.slice(0, head)}#${text.slice(text.length - tail)} b`, output);
    }
  }
});

t.test('values that are too short or too common are not searched for', async (t) => {
  const known = ['seven77', 'aabbaabb', 'abcabcabc', 'kubernetes', 'abcdefghijk'];
  await expectMarked(t, [`x ${known.join(' ')} x`], { known });
  for (const secret of ['eight888', 'abc1abc1', 'abcdefghijkl', 'Kubernetes']) {
    await expectMarked(t, [`x «${secret}» x`], { known: [secret] });
    t.match(await safe(`x ${base64(secret)} x`, { known: [secret] }), /^x #.{0,3} x$/);
  }
});

t.test('bytes that are written as numbers are read, whatever they are', async (t) => {
  const pem = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIA\n-----END EC PRIVATE KEY-----\n';
  const document = Buffer.from('db_password=hunter22 port=5432');
  const hex = document.toString('hex');
  await expectMarked(t, [
    `x [«${document.join(' ')}»] x`,
    `x [«${document.join(', ')}»] x`,
    `x ${JSON.stringify([...document], null, '\t').replace(/\d.*\d/s, '«$&»')} x`,
    `x:\n- «${document.join('\n- ')}»\nx`,
    `x 0x«${hex}» x`,
    `x \\x«${hex.toUpperCase()}» x`,
    `x «${hex.match(/../g)?.join(':')}» x`,
    `x «${hex.match(/..../g)?.join(' ')}» x`,
    `x {«${Array.from(document, (byte) => `0x${byte.toString(16)}`).join(', ')}»} x`,
    `x [«${Buffer.from(pem).join(' ')}»] x`,
    // Of other documents, digests, words and times nothing goes.
    `x [${Buffer.from('db_port=5432 is a port').join(' ')}] x`,
    `x ${hex}0 x`,
    `x y${hex} x`,
    `x ${hex}y x`,
    'x 0102030405060708090a0b0c0d0e0f10 2026-11-21 10:11:12 13 14 15 16 x',
  ]);
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const der = key.export({ type: 'sec1', format: 'der' });
  await expectMarked(t, [`x «${der.toString('hex')}» x`, `x [«${der.join(',')}»] x`]);
});

t.test('an escaped secret has the same mark as the plain one', async (t) => {
  const marks = async (text: string) =>
    (await safe(text, { marks: true })).match(/<redacted:\w+>/g) ?? [];
  const word = 'a"b\\c d';
  const once = JSON.stringify(word);
  const twice = JSON.stringify(once).slice(1, -1);
  const [first, ...others] = await marks(
    `{"password":${once}}\n{\\"password\\":${twice}}\npassword='${word}'\n`,
  );
  t.same(others, [first, first]);
});
