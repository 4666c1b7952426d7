import t from 'tap';
import { relocateRows } from '../../../bench/relocate/benchmark.ts';

t.test('the wait for a steady node counts in one row only', async (t) => {
  const rows = relocateRows({
    ours: [{ passed: 70, settling: 32, peakMiB: 90 }],
    bare: [20],
    nodeMiB: [45, 45],
  });
  const figures = rows.map(({ what, ours, theirs }) => [what, ours.median, theirs.median]);
  t.same(figures, [
    ['insertion to PASS', 70, 20],
    ['of it, without the last wait', 38, 20],
    ['peak memory', 90, 45],
  ]);
});
