import t from 'tap';
import { decodedWord, percentSigns, wordAround } from '../../../lib/secrets/redact/percent.ts';

t.test('percent signs of codes that documents have', (t) => {
  const rows: [text: string, offsets: number[]][] = [
    ['', []],
    ['100%', []],
    ['%3', []],
    ['%3A%41%3a', [0, 6]],
    ['%%2F%25', [1, 4]],
    ['%22%25%2B%2F%3A%3D%7B%0A', [0, 3, 6, 9, 12, 15, 18, 21]],
    ['%2b%2f%3d%7b%0a', [0, 3, 6, 9, 12]],
    ['%20%41%7D%09', []],
    // Not hexadecimal digits.
    ['%3x%/a%3G%:2', []],
  ];
  for (const [text, offsets] of rows) {
    t.strictSame(percentSigns(Buffer.from(text)), offsets, text);
  }
  t.end();
});

t.test('the word around a percent sign', (t) => {
  for (const [line, word] of [
    ['%3A', '%3A'],
    ['a=b%3Ac&d', 'b%3Ac'],
    ['b%3Ac d', 'b%3Ac'],
    ['a b-c%3Ad/e.f g', 'b-c%3Ad/e.f'],
    ['"b\u00e9%3A"', 'b\u00e9%3A'],
    ['\u00a0%3A\u00a0', '%3A'],
  ] as const) {
    const start = line.indexOf(word);
    const expected = { start, end: start + word.length };
    t.strictSame(wordAround(line, line.indexOf('%3A')), expected, line);
  }
  t.end();
});

t.test('a word is decoded byte by byte; what is not encoded remains', (t) => {
  for (const [word, text] of [
    ['plain', 'plain'],
    ['a%3Ab%3ac', 'a:b:c'],
    ['%09%0A%5a%7F', '\t\nZ\x7f'],
    ['%C3%A9', '\u00e9'],
    ['100%', '100%'],
    ['%4', '%4'],
    ['%%41', '%A'],
    ['%2541', '%41'],
    ['%/0%:0%@0%G0%`0%g0', '%/0%:0%@0%G0%`0%g0'],
    ['%0/%0:%0@%0G%0`%0g', '%0/%0:%0@%0G%0`%0g'],
  ] as const) {
    t.equal(decodedWord(word).toString(), text, word);
  }
  t.end();
});
