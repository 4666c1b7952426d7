import t from 'tap';
import { createRedactor } from '../../../lib/secrets/redact/redactor.ts';
import { expectHeld, inBlocks } from './in-blocks.ts';
import { redacted } from './streams.ts';

const BODY = `${'Zq8mK2vW4tYxR6nB'.repeat(4)}\n${'d3E4fG5h6IjK7L8m'.repeat(4)}\nc0rr/ect+w==`;
const { text } = createRedactor(Buffer.alloc(32, 1), []);
const safe = async (input: string) =>
  (await redacted(text, Buffer.from(input))).toString().replace(/<redacted:\w+>/g, '#');

const armored = (kind: string, body = BODY) =>
  `-----BEGIN ${kind}-----\n${body}\n-----END ${kind}-----`;

t.test('each kind of private key is removed, and only those', async (t) => {
  for (const kind of ['', 'RSA ', 'EC ', 'DSA ', 'OPENSSH ', 'ENCRYPTED ', 'ANY OTHER ']) {
    const output = await safe(`before\n${armored(`${kind}PRIVATE KEY`)}\nafter\n`);
    t.match(output, /^before\n(#\n)+after\n$/, kind);
  }
  t.match(await safe(`${armored('PGP PRIVATE KEY BLOCK')}\nafter\n`), /^(#\n)+after\n$/);
  for (const kind of ['CERTIFICATE', 'PUBLIC KEY', 'X509 CRL']) {
    const ordinary = `before\n${armored(kind, 'MIIBhTCCASug\nAwIBAgIQ')}\nafter\n`;
    t.equal(await safe(ordinary), ordinary, kind);
  }
});

t.test('in every line format', async (t) => {
  const key = armored('PRIVATE KEY');
  const table: Record<string, [input: string, expected: string]> = {
    'in one line, escaped': [`a ${key.replaceAll('\n', '\\n')} b`, 'a # b'],
    'escaped twice': [`a ${key.replaceAll('\n', '\\\\n')} b`, 'a # b'],
    'percent-encoded': [`a=${encodeURIComponent(key)} b`, 'a=# b'],
    'as a form': [`a=${encodeURIComponent(key).replaceAll('%20', '+')} b`, 'a=# b'],
    'with an indentation': [key.replace(/^/gm, '    '), '    #\n    #\n    #\n    #\n    #'],
    'with CRLF': [`${key.replaceAll('\n', '\r\n')}\r\nend\n`, '#\r\n#\r\n#\r\n#\r\n#\r\nend\n'],
  };
  for (const [name, [input, expected]] of Object.entries(table)) {
    t.equal(await safe(input), expected, name);
  }
});

t.test('two beginnings and one end, one beginning and two ends', async (t) => {
  const [begin = '', end = ''] = ['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----'];
  const [first = '', second = '', last = ''] = BODY.split('\n');
  for (const lines of [
    [begin, first, begin, second, last, end],
    [begin, first, last, end, second, last, end],
    [first, last, end],
    [begin, first, second],
  ]) {
    const output = await safe(`before\n${lines.join('\n')}\nwords after\n`);
    for (const part of [first, second, last]) t.notOk(output.includes(part), output);
    t.ok(output.startsWith('before\n') && output.endsWith('\nwords after\n'), output);
  }
});

const [BEGIN, END] = ['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----'];
const [A = '', B = '', LAST = ''] = BODY.split('\n');

t.test('a key is held back as long as the next bytes can belong to it', (t) => {
  const words = 'two words\n'.repeat(400);
  expectHeld(t, [
    `before\n¦log: ${BEGIN}\n`,
    `before\n¦${BEGIN}\n«${A}»\n`,
    `before\n«${BEGIN}»\n«${A}»\n«${END}»\n¦b\n`,
    `before\n¦«${BEGIN}»\n«${A}»\n«${END}»\n`,
    `«${BEGIN}\\n${A}\\n${END}»\n¦b\n`,
  ]);
  // Beyond 400 lines, nothing belongs to it.
  const [first = ''] = inBlocks([`${BEGIN}\n${A}\n${words}`]);
  t.ok(first.startsWith(`${BEGIN}\n#\ntwo words\n`), 'written');
  const output = inBlocks([`${BEGIN}\n${A}\n${words}${B}\n${END}\nb\n`]).join('');
  t.equal(output, `${BEGIN}\n#\n${words}#\n${END}\nb\n`, 'an end without a beginning');
  t.equal(inBlocks([`${A}\n${LAST}\n${END}\nb\n`]).join(''), `#\n#\n${END}\nb\n`);
  t.end();
});
