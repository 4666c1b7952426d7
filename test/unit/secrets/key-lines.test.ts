import t from 'tap';
import { expectMarked, safe } from './marked.ts';

const line = (letter: string) => `${letter.repeat(30)}/9z+${letter.toUpperCase().repeat(30)}`;
const [A = '', B = '', C = ''] = ['a', 'b', 'c'].map(line);
const LAST = 'dDd0ZQ==';
const BEGIN = '-----BEGIN PRIVATE KEY-----';
const END = '-----END PRIVATE KEY-----';

/** Lines with `«»` around each part to be removed. */
const lines = (...parts: string[]) => `${parts.join('\n')}\n`;

t.test('from each line only the part of the key is removed, its prefix is kept', async (t) => {
  await expectMarked(t, [
    lines('before', `«${BEGIN}»`, `«${A}»`, `«${LAST}»`, `«${END}»`, 'after'),
    lines(`    «${BEGIN}»`, `    «${A}»`, `    «${LAST}»`, `    «${END}»`, '    after'),
    lines(`key: «${BEGIN}»`, `  «${A}»`, `  «${LAST}»`, `  «${END}»`, 'after'),
    lines(`log: «${BEGIN}»`, `log: «${A}»`, `log: «${LAST}»`, `log: «${END}» words`, 'after'),
    // Other programs' output between the lines of a key.
    lines(`«${BEGIN}»`, 'other: words and words', `«${A}»`, 'two words', `«${END}»`),
    lines(`a «${BEGIN}\\n${A}\\n${LAST}\\n${END}» b`),
    lines(`"a": "«${BEGIN}\\\\n${A}\\\\n${END}\\\\n»"`.replace('\\\\n»', '»\\\\n')),
    `«${BEGIN}»\n«${A}»\n«${END}»`,
    `«${BEGIN}»\r\n«${A}»\r\n«${LAST}»\r\n«${END}»\r\nafter\r\n`,
    lines(`«${BEGIN}»`, `«${A}»`, `«${END}»`, 'words', `«${BEGIN}»`, `«${B}»`, `«${END}»`),
    lines('-----BEGIN CERTIFICATE-----', A, '-----END CERTIFICATE-----'),
    lines('no -----BEGIN key', 'PRIVATE KEY-----', A),
    lines(`«${BEGIN}»`, 'two words', `«${LAST}»`, `«${END}»`),
    lines(`«${BEGIN}»`, '  short', `  «${END}»`),
    lines(`«${BEGIN}»`, `«${A}»`, `log: «${END}»`, 'after'),
    lines(`${'words '.repeat(20)}«${BEGIN}${END}» b`),
    lines(`${'words '.repeat(20)}«${BEGIN}\\n${A}\\n${END}»«${BEGIN}\\n${B}\\n${END}» b`),
    // In another column only what is long, and neither a path nor a digest, is a line of the key.
    lines(`«${BEGIN}»`, `log: «${'kK'.repeat(20)}»`, `«${END}»`),
    ...[`${'kK'.repeat(19)}k`, '0a'.repeat(32), `/var/lib${'/containers'.repeat(5)}`].map((other) =>
      lines(`«${BEGIN}»`, `log: ${other}`, `«${END}»`),
    ),
    // A short line is found by what is before and after it, or by its column.
    lines('before', `«${BEGIN}»`, `«${LAST}»`, `«${END}»`),
    lines('before', `"«${BEGIN}»",`, `"«${LAST}»",`, `"«${END}»",`),
    // Of several runs in a line, the longest one is the key's.
    lines(`«${BEGIN}»`, ` key="a" key="«${A}»" key="b"`, `«${END}»`),
    // Some lines end with CRLF.
    `«${BEGIN}»\r\n«${A}»\n«${LAST}»\r\n«${END}»\n`,
    `before\n«${BEGIN}»\n«${LAST}»\r\n«${END}»\r\n`,
  ]);
});

/** Records of one message each, and how programs write them: `at` is the time of the `index`-th. */
const RECORDS: Record<string, (message: string, index: number) => string> = {
  'json-file of Docker': (message, index) =>
    `{"log":"${message}\\n","stream":"stdout","time":"2026-11-22T10:00:0${index}.${index * 7}Z"}`,
  logfmt: (message, index) =>
    `time="2026-11-22T10:00:0${index}Z" level=info msg="${message}" file="key.go:${index * 6}"`,
  'logfmt, the message first': (message, index) => `msg="${message}" level=info n=${index * 6}`,
  klog: (message, index) => `I1122 10:00:00.000000       1 x.go:${index * 6}] ${message}`,
  'klog with structure': (message, index) =>
    `I1122 10:00:00.000000       1 x.go:${index * 6}] "got it" line="${message}" n=${index}`,
  'JSON with fields before': (message, index) =>
    `{"n":${index * 6},"level":"info","msg":"${message}","b":"c"}`,
  'an entry of the journal': (message, index) =>
    `{"_PID":"${index * 60}","MESSAGE":"${message}","PRIORITY":"6","__CURSOR":"s=${index}"}`,
  CRI: (message) => `2026-11-22T10:00:00.000000000Z stderr F ${message}`,
  'a list in JSON': (message) => `    "${message}",`,
  'lines with numbers': (message, index) => `${index + 8}:${message}`,
  colours: (message) => `log: \u001b[32m${message}\u001b[0m`,
  XML: (message) => `<line>${message}</line>`,
};

t.test('each line of a key can be a value in a record', async (t) => {
  const body = [A, B, C, LAST];
  const key = [BEGIN, ...body, END];
  const marked = (text: string) => `«${text}»`;
  for (const [name, record] of Object.entries(RECORDS)) {
    const all = (messages: readonly string[]) => lines(...messages.map(record));
    const words = ['two words', 'other: words, more words'];
    await t.test(name, async (t) => {
      await expectMarked(t, [
        all(['before', ...key.map(marked), ...words]),
        all(['before', ...[BEGIN, LAST, END].map(marked), ...words]),
        all(['before', ...body.map(marked), END, ...words]),
        all(['before', BEGIN, ...body.map(marked), ...words]),
        all(['before', BEGIN, ...body.slice(0, -1).map(marked), ...words, `got ${A}`]),
        lines(
          'before',
          ...key.map((line, at) => `${record(marked(line), at)}\nother program: words`),
        ),
      ]);
    });
  }
});

t.test('each line of a key can be in a document of its own', async (t) => {
  const key = [BEGIN, A, B, C, LAST, END];
  const ends = { 'with a newline': '\n', without: '' };
  for (const [name, end] of Object.entries(ends)) {
    const document = (message: string) => JSON.stringify({ log: `${message}${end}`, stream: 'b' });
    const texts = [key, key.slice(1), key.slice(0, -1)].map((messages) => [
      'before',
      ...messages,
      'two words',
    ]);
    for (const text of texts) {
      const output = await safe(lines(...text.map(document)));
      for (const part of [A, B, C, LAST]) t.notOk(output.includes(part), `${name}: ${output}`);
      t.ok(output.startsWith(document('before')) && output.endsWith(`${document('two words')}\n`));
    }
  }
});

t.test('a key without an end is removed as far as it looks like one', async (t) => {
  await expectMarked(t, [
    lines('before', BEGIN, `«${A}»`, `«${B}»`, 'words after it', 'more words'),
    lines(BEGIN, `«${A}»`, `«${BEGIN}»`, `«${B}»`, `«${END}»`, 'after'),
    lines(BEGIN),
    `${BEGIN}\n«${A}»\ntwo words`,
    // What follows it on its line.
    `got ${BEGIN} and words after it`,
    `{"key":"${BEGIN}«\\n${A}\\n${B}\\nabc»","b":"c"}`,
    `{"key":"${BEGIN}«\\nProc-Type: 4,ENCRYPTED\\nDEK-Info: AES-128-CBC,00\\n\\n${A}»`,
    `keys: ${BEGIN}« ${A} ${B}» words`,
    // Nothing that is not as long as the first line, and nothing after one that is shorter.
    lines(BEGIN, `«${A}»`, `«${LAST}»`, B, C),
    lines(BEGIN, `«${A}»`, `${B}${C}`, 'words', `got ${B}`),
    lines(BEGIN, 'words', A),
    lines(BEGIN, `«${A}»`, '-----BEGIN CERTIFICATE-----', B, '-----END CERTIFICATE-----'),
    lines(BEGIN, `«${A}»`, `sha256:${'0a'.repeat(32)}`, 'words', B),
    lines(BEGIN, 'word', 'words', 'word'),
    lines(BEGIN, `«${A}»`, '-----END CERTIFICATE-----', B, 'words'),
    lines(BEGIN, `«${A}»`, `«${'kK'.repeat(20)}»`, 'words'),
    lines(`  ${BEGIN}`, `  «${A}»`, `  ${B}${C}`, 'words'),
    lines(BEGIN, LAST, 'two words'),
    lines(BEGIN, `«${'kK'.repeat(20)}»`, 'words'),
    lines(BEGIN, `${'kK'.repeat(19)}k`, 'words'),
    // The first line of the body, directly after the marker, determines the column.
    lines(`key: ${BEGIN}`, `  «${A}»`, `  «${B}»`, 'words'),
    lines(`key: ${BEGIN}`, 'words', `  ${A}`, 'words'),
    lines(BEGIN, `«${A}»`, `  ${B}`, 'words'),
    lines('before', `"${BEGIN}",`, `"«${A}»",`, `"«${LAST}»",`),
    // The text ends within the key.
    `${BEGIN}\n«${A}»\n«${B}»`,
    `${BEGIN}\r\n«${A}»\r\n«${B}»`,
    `${BEGIN}\r\n«${A}»\r\n«${B}»\r`,
    `${BEGIN}\r\n«${A}»\r\n«${B}»\r\nwords\r\n`,
    // Escaped newlines that end a record are kept.
    `{"key":"${BEGIN}«\\n${A}»\\n\\n"}`,
    `{"key":"${BEGIN}«\\n${A}»${'\\n'.repeat(16)}"}`,
  ]);
});

t.test('for a key without a beginning, the lines above its end are removed', async (t) => {
  await expectMarked(t, [
    lines(`«${A}»`, `«${B}»`, `«${LAST}»`, END, 'after'),
    lines('words', `«${A}»`, `«${LAST}»`, END, 'after'),
    lines('log: words', `log: «${A}»`, `log: «${LAST}»`, `log: ${END}`),
    lines(`a «${A}\\n»${END} b`),
    `«${A}»\r\n«${LAST}»\r\n${END}\r\nafter\r\n`,
    lines('short', `«${LAST}»`, END),
    lines(`«${'k'.repeat(40)}»`, `«${LAST}»`, END),
    lines('k'.repeat(39), `«${LAST}»`, END),
    lines('two words', END),
    lines(A, '', END),
    lines(`«${BEGIN}»`, `«${A}»`, `«${END}»`, `«${B}»`, END),
    lines(`${'kK'.repeat(20)}`, `«${A}»`, `«${LAST}»`, END),
    lines(`«${A}»`, `«${'kK'.repeat(20)}»`, `«${LAST}»`, END),
    lines('', `«${LAST}»`, END),
    lines(`«${'k/9Z'.repeat(3000)}»`, `«${LAST}»`, END),
    lines(`«${A}»`, `«${LAST}»`, END, B, 'words'),
    lines(`«${BEGIN}»`, `«${A}»`, `«${END}»${LAST}`, END),
    `«${A}»\n«${LAST}»\n${END}`,
    `«${A}\\n${LAST}»${END}`,
    // Another indentation is separate text.
    lines(`log: ${A}`, `«${B}»`, END),
  ]);
});

t.test('a key has at most 400 lines and 64 KiB', async (t) => {
  const body = (count: number, open: string, close: string) =>
    Array.from({ length: count }, () => `${open}${A}${close}`);
  await expectMarked(t, [
    lines(`«${BEGIN}»`, ...body(398, '«', '»'), `«${END}»`),
    lines(`«${BEGIN}»`, '', ...body(397, '«', '»'), `«${END}»`),
    lines(BEGIN, ...body(399, '«', '»'), END),
    lines(BEGIN, '', ...body(398, '«', '»'), END),
    lines(BEGIN, ...body(399, '«', '»'), ...body(600, '', '')),
    lines(BEGIN, ...body(399, '«', '»'), ...body(600, '', ''), 'two words'),
    lines(...body(200, '', ''), ...body(400, '«', '»'), END),
  ]);
  const long = 'k/9Z'.repeat(255);
  const fitting = Math.floor(((1 << 16) - `${BEGIN}\n`.length) / (long.length + 1));
  const many = (count: number) => Array.from({ length: count }, () => `«${long}»`);
  await expectMarked(t, [
    lines(BEGIN, ...many(fitting), ...Array.from({ length: 30 }, () => long)),
  ]);
});

t.test('one mark per key, whatever its lines', async (t) => {
  const marksOf = async (text: string) => [
    ...new Set((await safe(`${text}after\n`, { marks: true })).match(/<redacted:\w+>/g)),
  ];
  const key = [BEGIN, A, B, LAST, END];
  const many = await marksOf(lines(...key));
  t.equal(many.length, 1);
  for (const text of [
    lines(...key.map((line) => `log: ${line}`)),
    lines(key.join('\\n')),
    lines(key.join('\\\\n')),
    lines(key.join('#012')),
    lines(encodeURIComponent(key.join('\n'))),
    lines(...key).replaceAll('\n', '\r\n'),
  ]) {
    t.same(await marksOf(text), many, text.slice(0, 60));
  }
  // DER that identifies itself as a key.
  const der = `${Buffer.from('302e020100300506032b657004220420', 'hex').toString('base64url')}${A}`;
  t.same(await marksOf(`got ${der} b\n`), await marksOf(lines(BEGIN, der, END)));
  t.notSame(await marksOf(lines(BEGIN, A, C, END)), many);
});

t.test('how the stream is split makes no difference to a key', async (t) => {
  const text = lines('before', `«${BEGIN}»`, `«${A}»`, `«${B}»`, `«${END}»`, 'after');
  const filler = `${'ordinary words '.repeat(4)}\n`.repeat(1074);
  // Moves the end of a block of about 64 KiB to each line of the key.
  for (let skip = 0; skip < 8; skip++) {
    const before = filler.slice(61 * skip);
    await expectMarked(t, [`${before}${text}${filler}`, `${before}${text}`], { size: 61 });
  }
});
