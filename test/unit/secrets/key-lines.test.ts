import t from 'tap';
import { expectMarked, safe } from './marked.ts';

const line = (letter: string) => `${letter.repeat(30)}/9z+${letter.toUpperCase().repeat(30)}`;
const [A, B, C] = ['a', 'b', 'c'].map(line);
const LAST = 'dDd0==';
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
    lines('-----BEGIN CERTIFICATE-----', A ?? '', '-----END CERTIFICATE-----'),
    lines('no -----BEGIN key', 'PRIVATE KEY-----', A ?? ''),
    lines(`«${BEGIN}»`, 'two words', `«${LAST}»`, `«${END}»`),
    lines(`«${BEGIN}»`, '  short', `  «${END}»`),
    lines(`«${BEGIN}»`, `«${A}»`, `log: «${END}»`, 'after'),
    lines(`${'words '.repeat(20)}«${BEGIN}${END}» b`),
    lines(`${'words '.repeat(20)}«${BEGIN}\\n${A}\\n${END}»«${BEGIN}\\n${B}\\n${END}» b`),
    // At another indentation, only long lines belong to the key.
    lines(`«${BEGIN}»`, `log: «${'k'.repeat(40)}»`, `«${END}»`),
    lines(`«${BEGIN}»`, `log: ${'k'.repeat(39)}`, `«${END}»`),
    ...[4096, 4097].map((column) => {
      const before = ' '.repeat(column);
      const last = column > 4096 ? LAST : `«${LAST}»`;
      return lines(`${before}«${BEGIN}»`, `${before}${last}`, `${before}«${END}»`);
    }),
  ]);
});

t.test('a key without an end is removed as far as it looks like one', async (t) => {
  await expectMarked(t, [
    lines('before', `«${BEGIN}»`, `«${A}»`, `«${B}»`, 'words after it', 'more words'),
    lines(`«${BEGIN}»`, `«${A}»`, `«${BEGIN}»`, `«${B}»`, `«${END}»`, 'after'),
    lines(`«${BEGIN}»`),
    `«${BEGIN}»\n«${A}»\ntwo words`,
  ]);
});

t.test('for a key without a beginning, the lines above its end are removed', async (t) => {
  await expectMarked(t, [
    lines(`«${A}»`, `«${B}»`, `«${LAST}»`, `«${END}»`, 'after'),
    lines('words', `«${A}»`, `«${LAST}»`, `«${END}»`, 'after'),
    lines('log: words', `log: «${A}»`, `log: «${LAST}»`, `log: «${END}»`),
    lines(`a «${A}\\n${END}» b`),
    `«${A}»\r\n«${LAST}»\r\n«${END}»\r\nafter\r\n`,
    lines('short', `«${LAST}»`, `«${END}»`),
    lines(`«${'k'.repeat(40)}»`, `«${LAST}»`, `«${END}»`),
    lines('k'.repeat(39), `«${LAST}»`, `«${END}»`),
    lines('two words', `«${END}»`),
    lines(A ?? '', '', `«${END}»`),
    lines(`«${BEGIN}»`, `«${A}»`, `«${END}»`, `«${B}»`, `«${END}»`),
    // Another indentation is separate text.
    lines(`log: ${A}`, `«${B}»`, `«${END}»`),
  ]);
});

t.test('a key has at most 400 lines and 64 KiB', async (t) => {
  const body = (count: number, open: string, close: string) =>
    Array.from({ length: count }, () => `${open}${A}${close}`);
  await expectMarked(t, [
    lines(`«${BEGIN}»`, ...body(398, '«', '»'), `«${END}»`),
    lines(`«${BEGIN}»`, ...body(399, '«', '»'), ...body(600, '', '')),
    lines(`«${BEGIN}»`, ...body(399, '«', '»'), ...body(600, '', ''), 'two words'),
    lines(...body(200, '', ''), ...body(400, '«', '»'), `«${END}»`),
  ]);
  const long = 'k/9z'.repeat(255);
  const part = (1 << 16) - `${BEGIN}\n`.length - 64 * (long.length + 1);
  await expectMarked(t, [
    lines(
      `«${BEGIN}»`,
      ...Array.from({ length: 64 }, () => `«${long}»`),
      `«${long.slice(0, part)}»${long.slice(part)}`,
      ...Array.from({ length: 30 }, () => long),
    ),
  ]);
});

t.test('one mark per key, whatever its lines', async (t) => {
  const marksOf = async (text: string) => [
    ...new Set((await safe(`${text}after\n`, { marks: true })).match(/<redacted:\w+>/g)),
  ];
  const many = await marksOf(lines(BEGIN, A ?? '', B ?? '', END));
  t.equal(many.length, 1);
  for (const text of [
    lines(`log: ${BEGIN}`, `log: ${A}`, `log: ${B}`, `log: ${END}`),
    lines([BEGIN, A, B, END].join('\\n')),
    lines([BEGIN, A, B, END].join('\\\\n')),
    lines([BEGIN, A, B, END].join('#012')),
    lines(encodeURIComponent([BEGIN, A, B, END].join('\n'))),
    lines(BEGIN, A ?? '', B ?? '', END).replaceAll('\n', '\r\n'),
  ]) {
    t.same(await marksOf(text), many, text.slice(0, 60));
  }
  // DER that identifies itself as a key.
  const der = `${Buffer.from('302e020100300506032b657004220420', 'hex').toString('base64url')}${A}`;
  t.same(await marksOf(`got ${der} b\n`), await marksOf(lines(BEGIN, der, END)));
  t.notSame(await marksOf(lines(BEGIN, A ?? '', C ?? '', END)), many);
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
