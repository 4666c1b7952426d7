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
