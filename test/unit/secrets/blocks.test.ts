import t from 'tap';
import { replaced } from '../../../lib/secrets/redact/finding.ts';
import { MAX_LINE_BYTES, wholeLines } from '../../../lib/secrets/redact/lines.ts';

async function* inPieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) {
    const piece = Buffer.from(bytes.subarray(at, at + size));
    yield piece;
    // Like a stream that reuses its memory.
    piece.fill('?');
  }
}

async function blocksOf(text: string, size: number): Promise<string[]> {
  const blocks: Buffer[] = [];
  for await (const block of wholeLines(inPieces(Buffer.from(text), size))) {
    blocks.push(Buffer.from(block));
  }
  return blocks.map((block) => block.toString());
}

const word = (part: number, letter = 'w') => letter.repeat(MAX_LINE_BYTES * part);
const SIZES = [10_000, 65_536, 4 * MAX_LINE_BYTES];

t.test('a stream is split into blocks of whole lines', async (t) => {
  const text = `${'ordinary words\n'.repeat(30_000)}the end`;
  for (const size of SIZES) {
    const blocks = await blocksOf(text, size);
    t.ok(blocks.join('') === text);
    t.ok(
      blocks.slice(0, -1).every((block) => block.endsWith('\n')),
      'whole lines',
    );
    t.equal(blocks.at(-1), 'the end');
    t.ok(blocks.every((block) => block.length <= 1 << 20));
  }
  t.ok((await blocksOf(text, 10_000)).length > 4, 'nothing waits for the end');
  t.strictSame(await blocksOf('', 9), []);
  t.strictSame(await blocksOf('a', 9), ['a']);
  t.strictSame(await blocksOf('a\n', 9), ['a\n']);
});

t.test('an overlong line is split between words; an overlong word is left out', async (t) => {
  const table: [title: string, text: string, expected: string][] = [
    ['a long line of words', `${'ab '.repeat(MAX_LINE_BYTES)}\nb\n`, ''],
    ['a line that just fits', `${word(1).slice(1)}\nb\n`, ''],
    ['a word between others', `before ${word(2)} after\nb\n`, 'before <redacted> after\nb\n'],
    ['a word at the beginning', `${word(2)} after\nb\n`, '<redacted> after\nb\n'],
    ['a word at the end', `a\nbefore ${word(2)}`, 'a\nbefore <redacted>'],
    ...['!', '#', '-', '.', '/', '0', ':'].map((within): [string, string, string] => [
      `a word with ${within}`,
      `${word(0.75)}${within}${word(0.75)} b\n`,
      '<redacted> b\n',
    ]),
    ['a word before a newline', `${word(1.5)}\nb\n`, '<redacted>\nb\n'],
    ['two words', `${word(2)} ${word(2, 'v')}\nb\n`, '<redacted> <redacted>\nb\n'],
    ['after a long word', `${word(0.25)} ${word(1.5, 'v')} b\n`, `${word(0.25)} <redacted> b\n`],
    ['two words that fit', `${word(0.75)} ${word(0.75, 'v')} b\n`, ''],
    ...['\t', '"', "'", ',', ';', '&', '\r', '\0'].map((gap): [string, string, string] => [
      `a word before ${JSON.stringify(gap)}`,
      `a${gap}${word(1.5)}${gap}b\n`,
      `a${gap}<redacted>${gap}b\n`,
    ]),
  ];
  for (const [title, text, expected] of table) {
    for (const size of SIZES) {
      const blocks = await blocksOf(text, size);
      t.ok(blocks.join('') === (expected === '' ? text : expected), `${title}, ${size}`);
      t.ok(
        blocks.every((block) => block.length <= 1 << 20),
        'memory has a bound',
      );
    }
  }
  const [first = '', second = ''] = await blocksOf(`${'ab '.repeat(MAX_LINE_BYTES)}\n`, 65_536);
  t.ok(first.endsWith(' ') && second.startsWith('ab'), 'no word is cut');
  t.ok(first.length > MAX_LINE_BYTES - 3);
});

t.test('little is held, with or without newlines', async (t) => {
  for (const [line, most] of [
    ['ordinary words\n', 1 << 16],
    ['ordinary words ', 1 << 20],
    ['ordinary-words-', 1 << 20],
  ] as const) {
    let given = 0;
    const piece = Buffer.from(line.repeat(1000));
    async function* pieces() {
      for (let count = 0; count < 200; count++) {
        given += piece.length;
        yield piece;
      }
    }
    let first = 0;
    for await (const _ of wholeLines(pieces())) first ||= given;
    t.ok(first <= most + piece.length, `${first} bytes before the first block`);
  }
});

t.test('findings are replaced, overlapping ones as one', async (t) => {
  const bytes = Buffer.from('0123456789');
  const table: [findings: [start: number, end: number, by: string][], expected: string][] = [
    [[], '0123456789'],
    [[[2, 4, 'a']], '01a456789'],
    [[[0, 10, 'a']], 'a'],
    [
      [
        [6, 8, 'b'],
        [2, 4, 'a'],
      ],
      '01a45b89',
    ],
    [
      [
        [2, 4, 'a'],
        [4, 6, 'b'],
      ],
      '01ab6789',
    ],
    [
      [
        [2, 6, 'a'],
        [3, 5, 'b'],
      ],
      '01a6789',
    ],
    [
      [
        [3, 5, 'b'],
        [2, 6, 'a'],
      ],
      '01a6789',
    ],
    [
      [
        [2, 5, 'a'],
        [4, 8, 'b'],
      ],
      '01a89',
    ],
    [
      [
        [2, 5, 'a'],
        [4, 8, 'b'],
        [7, 9, 'c'],
      ],
      '01a9',
    ],
    [
      [
        [2, 4, 'a'],
        [2, 4, 'b'],
      ],
      '01a456789',
    ],
    [
      [
        [2, 4, 'a'],
        [2, 6, 'b'],
      ],
      '01b6789',
    ],
  ];
  for (const [findings, expected] of table) {
    const all = findings.map(([start, end, by]) => ({ start, end, by }));
    t.equal(replaced(bytes, all).toString(), expected, JSON.stringify(findings));
  }
  t.equal(replaced(bytes, []), bytes, 'the same bytes, when nothing is found');
});
