import t from 'tap';
import { compare, interleaved, percentile, spread } from '../../../bench/statistics.ts';

t.test('the median is the middle sample, or the mean of the middle two', async (t) => {
  const cases: [samples: number[], median: number, min: number, max: number][] = [
    [[3], 3, 3, 3],
    [[10, 9, 1], 9, 1, 10],
    [[4, 1, 3, 2], 2.5, 1, 4],
    [[100, 20, 3], 20, 3, 100],
  ];
  for (const [samples, median, min, max] of cases) {
    t.strictSame(spread(samples), { median, min, max }, samples.join());
  }
  t.throws(() => spread([]), RangeError);
  t.throws(() => spread([1, Number.NaN]), RangeError);
});

t.test('a percentile is a sample', async (t) => {
  const hundred = Array.from({ length: 100 }, (_, at) => 100 - at);
  t.equal(percentile(hundred, 0.5), 50);
  t.equal(percentile(hundred, 0.95), 95);
  t.equal(percentile([3, 1, 2], 0.95), 3);
  t.equal(percentile([7], 0.5), 7);
});

t.test('a row has the ratio of the medians', async (t) => {
  const quantity = { what: 'wall time', unit: 's' };
  t.strictSame(compare(quantity, [1, 2, 30], [4, 8, 6]), {
    ...quantity,
    ours: { median: 2, min: 1, max: 30 },
    theirs: { median: 6, min: 4, max: 8 },
    ratio: 1 / 3,
    repetitions: 3,
  });
  t.equal(compare(quantity, [1], [0]).ratio, null, 'nothing to compare with');
  t.equal(compare(quantity, [1, 2], [3]).repetitions, 1);
});

t.test('both sides take turns at being first', async (t) => {
  const order: string[] = [];
  const side = (name: string) => async (at: number) => {
    order.push(name);
    return `${name}${at}`;
  };
  t.strictSame(await interleaved(3, side('o'), side('t')), [
    { ours: 'o0', theirs: 't0' },
    { ours: 'o1', theirs: 't1' },
    { ours: 'o2', theirs: 't2' },
  ]);
  t.equal(order.join(''), 'ottoot');
});
