import t from 'tap';
import { tableLines } from '../../../lib/base/table.ts';

t.test('columns are as wide as their widest cell, and lines end with their last one', async (t) => {
  t.same(
    tableLines(
      [
        ['NAME', 'SIZE'],
        ['a', '10.5', 'x'],
        ['long name', ''],
      ],
      [1],
    ),
    ['NAME       SIZE', 'a          10.5  x', 'long name'],
  );
  t.same(tableLines([]), []);
});
