import t from 'tap';
import { number, resultTable } from '../../../bench/table.ts';

t.test('figures have three significant digits', async (t) => {
  for (const [value, text] of [
    [0, '0'],
    [0.012345, '0.0123'],
    [1.5, '1.5'],
    [99.96, '100'],
    [1234.6, '1235'],
    [2 ** 30, '1073741824'],
  ] as const) {
    t.equal(number(value), text);
  }
});

t.test('a table is valid Markdown and readable in a terminal, with each note once', async (t) => {
  const side = (median: number, min = median, max = median) => ({ median, min, max });
  const row = { unit: 's', repetitions: 3 };
  t.strictSame(
    resultTable([
      {
        ...row,
        what: 'wall time',
        ours: side(1, 0.5, 2),
        theirs: side(4),
        ratio: 0.25,
        note: 'A.',
      },
      { ...row, what: 'cpu', ours: side(1), theirs: side(0), ratio: null },
      { ...row, what: 'more', ours: side(1), theirs: side(1), ratio: 1, note: 'A.' },
    ]).split('\n'),
    [
      '| what             |         ours | theirs |  ratio | runs |',
      '| ---------------- | -----------: | -----: | -----: | ---: |',
      '| wall time, s (1) | 1 (0.5 to 2) |      4 | 0.25 x |    3 |',
      '| cpu, s           |            1 |      0 |      - |    3 |',
      '| more, s (1)      |            1 |      1 |    1 x |    3 |',
      '(1) A.',
    ],
  );
});
