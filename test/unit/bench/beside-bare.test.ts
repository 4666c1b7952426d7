import t from 'tap';
import { besideBareRows } from '../../../bench/aio/beside-bare.ts';

t.test('a boot ends with the last of both, and its images count in one row only', async (t) => {
  const rows = besideBareRows({
    ours: [{ api: 30, node: 42, pod: 40, payload: 20 }],
    bare: [{ api: 5, node: 9, pod: 11 }],
    outages: { ours: [6, 8], bare: [4, 6] },
    restores: { ours: [{ outage: 9, until: 15 }], bare: [{ outage: 6, until: 7 }] },
  });
  const figures = rows.map(({ what, ours, theirs }) => [what, ours.median, theirs.median]);
  t.same(figures, [
    ['boot to Ready and schedulable', 22, 11],
    ['of it, boot to the API server being ready', 10, 5],
    ['boot to Ready and schedulable, images included', 42, 11],
    ['API outage of a restart of the API server', 7, 5],
    ['API outage of a restore', 9, 6],
    ['restore, from the command until the API is ready for good', 15, 7],
  ]);
  t.equal(rows[0]?.ratio, 2);
});
