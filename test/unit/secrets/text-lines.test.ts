import t from 'tap';
import { TextLines } from '../../../lib/secrets/redact/text-lines.ts';

const linesOf = (text: string) => new TextLines(Buffer.from(text, 'latin1'));

t.test('the line around an offset', async (t) => {
  const lines = linesOf('ab\n\ncdé\n\nf');
  const table: [offset: number, start: number, end: number, text: string][] = [
    [0, 0, 2, 'ab'],
    [1, 0, 2, 'ab'],
    [4, 4, 7, 'cdé'],
    [6, 4, 7, 'cdé'],
    [5, 4, 7, 'cdé'],
    [9, 9, 10, 'f'],
    [0, 0, 2, 'ab'],
    [2, 3, 3, ''],
    [7, 8, 8, ''],
  ];
  for (const [offset, start, end, text] of table) {
    t.strictSame(lines.at(offset), { start, end, text }, `${offset}`);
  }
});

t.test('a line is made once for all that is found in it', async (t) => {
  const lines = linesOf('first\nsecond\n');
  const line = lines.at(8);
  for (const offset of [6, 8, 11]) t.equal(lines.at(offset), line, `${offset}`);
  t.not(lines.at(4), line);
});

t.test('the line after another, empty ones too', async (t) => {
  const after = (text: string) => {
    const lines = linesOf(text);
    const all: string[] = [];
    for (let line = lines.after(lines.at(0)); line !== undefined; line = lines.after(line)) {
      all.push(`${line.start}-${line.end} ${line.text}`);
    }
    return all;
  };
  t.strictSame(after('a'), []);
  t.strictSame(after('a\n'), [], 'nothing follows the last newline');
  t.strictSame(after('a\nb'), ['2-3 b']);
  t.strictSame(after('a\n\nb\n'), ['2-2 ', '3-4 b']);
});

t.test('the last line with a text before another line', async (t) => {
  const lines = linesOf('&a 1\n&b 2\n&a 3\nx\n&a 4\ny\n');
  const lastWith = (text: string, offset: number) => lines.lastWith(text, lines.at(offset))?.text;
  t.equal(lastWith('&a', 0), undefined, 'only lines above it');
  t.equal(lastWith('&a', 5), '&a 1');
  t.equal(lastWith('&a', 10), '&a 1', 'found before');
  t.equal(lastWith('&a', 15), '&a 3');
  t.equal(lastWith('&a', 15), '&a 3', 'asked again');
  t.equal(lastWith('&b', 22), '&b 2', 'each text has its own place');
  t.equal(lastWith('&c', 22), undefined);
  t.equal(lastWith('&a', 22), '&a 4');
  t.equal(lastWith('1', 22), '&a 1', 'anywhere in the line');
});

t.test('what was searched once is not searched again', async (t) => {
  const bytes = Buffer.from('&a 1\n&b 2\n&a 3\nx\n');
  const lines = new TextLines(bytes);
  const places = (offset: number) =>
    ['&a', '&b'].map((text) => lines.lastWith(text, lines.at(offset))?.start);
  t.strictSame(places(10), [0, 5]);
  bytes.fill('-', 0, 4).fill('-', 5, 9);
  t.strictSame(places(15), [10, 5]);
});

t.test('only 32 texts can be looked for', async (t) => {
  const names = Array.from({ length: 33 }, (_, index) => `&${index} `);
  const lines = linesOf(`${names.join('\n')}\nx`);
  const last = lines.at(names.join('\n').length + 1);
  const found = names.map((name) => lines.lastWith(name, last)?.text);
  t.strictSame(found, [...names.slice(0, 32), undefined]);
  t.equal(lines.lastWith('&0 ', last)?.text, '&0 ', 'those looked for before are still found');
});
