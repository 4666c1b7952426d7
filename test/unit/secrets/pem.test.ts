import t from 'tap';
import { marksWith } from '../../../lib/secrets/redact/marks.ts';
import { pemKeys } from '../../../lib/secrets/redact/pem.ts';
import { createRedactor } from '../../../lib/secrets/redact/redactor.ts';
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

/** What is found, as text. */
function keysIn(bytes: Buffer, isLast: boolean) {
  const offsets = [...bytes.toString().matchAll(/PRIVATE KEY-----/g)].map(({ index }) => index);
  const { findings, ...rest } = pemKeys(bytes, offsets, marksWith(Buffer.alloc(32, 1)), isLast);
  return { parts: findings.map(({ start, end }) => bytes.toString('utf8', start, end)), ...rest };
}

t.test('a key is held back as long as the next bytes can belong to it', (t) => {
  const head = 'before\n';
  const open = head.length;
  const words = 'two words\n'.repeat(400);
  const unended = (text: string) => text.split('\n').slice(0, 400).join('\n').length + 1;
  const rows: [text: string, isLast: boolean, found: object][] = [
    [`${head}log: ${BEGIN}\n${A}\n`, false, { parts: [], openFrom: open, unendedTo: 0 }],
    [`${head}${BEGIN}\n${A}\n`, true, { parts: [A], unendedTo: head.length + 93 }],
    [`${head}${BEGIN}\nb c\n${A}\n`, true, { parts: [A], unendedTo: head.length + 97 }],
    [`${head}"${BEGIN}",\nb c\n"${A}",\n`, true, { parts: [A], unendedTo: head.length + 103 }],
    [`${head}${BEGIN}\n${A}\n${END}\n`, false, { parts: [], openFrom: open, unendedTo: 0 }],
    [`${head}${BEGIN}\n${A}\n${END}\nb\n`, false, { parts: [BEGIN, A, END], unendedTo: 0 }],
    // The block ends within a line.
    [`${head}${BEGIN}\n${A}\n${END}`, false, { parts: [BEGIN, A, END], unendedTo: 0 }],
    [`${BEGIN}\n${BEGIN}\n${A}\n${END}\n\n`, false, { parts: [BEGIN, A, END], unendedTo: 0 }],
    [`${BEGIN}\n${A}\n${words}`, false, { parts: [A], unendedTo: 28 + 65 + 398 * 10 }],
    [
      `${BEGIN}\n${A}\n${words}${B}\n${END}\nb\n`,
      false,
      { parts: [A, B], unendedTo: unended(`${BEGIN}\n${A}\n${words}`) },
    ],
    // A key whose beginning is missing.
    [`${head}${A}\n${LAST}\n${END}\n`, false, { parts: [], openFrom: open, unendedTo: 0 }],
    [`${head}${A}\n${LAST}\n${END}\n`, true, { parts: [A, LAST], unendedTo: 0 }],
    [`${head}${A}\n${LAST}\n${END}\nb\n`, false, { parts: [A, LAST], unendedTo: 0 }],
    [`${head}${A}\n${LAST}\n${END}`, false, { parts: [A, LAST], unendedTo: 0 }],
    [`two words\n${END}\n`, false, { parts: [], unendedTo: 0 }],
    [`${A}\n${END}\n${B}\n`, true, { parts: [A], unendedTo: 0 }],
    // The lines above belong to the first end of a line.
    [`${' '.repeat(26)}${A}\n${END} ${END}\n`, true, { parts: [], unendedTo: 0 }],
    [`${BEGIN}\\n${A}\\n${END}\n`, true, { parts: [`${BEGIN}\\n${A}\\n${END}`], unendedTo: 0 }],
    ['no key\n', false, { parts: [], unendedTo: 0 }],
  ];
  for (const [text, isLast, found] of rows) {
    t.strictSame(keysIn(Buffer.from(text), isLast), found, JSON.stringify(text.slice(0, 200)));
  }
  t.end();
});
