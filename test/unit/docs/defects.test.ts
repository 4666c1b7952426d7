import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { read, root } from './documents.ts';

interface Row {
  number: string;
  shownBy: string;
}

const NOT_YET = 'not yet shown';
/** A test referenced by the table: its file, and its name in that file. */
const REFERENCE = /`([^`]+)` "([^"]+)"/g;

/** The rows of the table whose first column is a number or a dash. */
function rowsOf(text: string): Row[] {
  return Array.from(text.matchAll(/^\| (\d+|-) \|(.*)\|$/gm), ([, number = '', cells = '']) => ({
    number,
    shownBy: cells.split(' | ').at(-1)?.trim() ?? '',
  }));
}

const rows = rowsOf(read('docs/defects.md'));

t.test('each number occurs at most once, in order', async (t) => {
  const numbers = rows.filter(({ number }) => number !== '-').map(({ number }) => Number(number));
  t.ok(numbers.length > 20);
  t.strictSame(
    numbers,
    [...new Set(numbers)].toSorted((a, b) => a - b),
  );
  t.ok(numbers.every((number) => number >= 1 && number <= 29));
});

t.test('every named test exists, by file and by name', async (t) => {
  for (const { number, shownBy } of rows.filter(({ shownBy }) => shownBy !== NOT_YET)) {
    const references = Array.from(shownBy.matchAll(REFERENCE));
    t.not(references.length, 0, `row ${number} names a test and its file, or says "${NOT_YET}"`);
    for (const [, path = '', name = ''] of references) {
      t.match(path, /^(test|lab\/(checks|faults|machine\/shown))\//, `row ${number}`);
      if (t.ok(existsSync(join(root, path)), `row ${number}: ${path}`)) {
        t.ok(read(path).includes(name), `row ${number}: ${path} has "${name}"`);
      }
    }
  }
});
