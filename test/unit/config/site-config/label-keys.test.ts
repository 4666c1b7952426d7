import t from 'tap';
import { isLabelKey } from '../../../../lib/config/site-config/fields.ts';

t.test('the prefix of a label is a DNS name of at most 253 characters', (t) => {
  const labels = (last: number) =>
    [...Array.from({ length: 3 }, () => 'a'.repeat(63)), 'b'.repeat(last)].join('.');
  t.equal(labels(61).length, 253);
  t.ok(isLabelKey(`${labels(61)}/site`));
  t.notOk(isLabelKey(`${labels(62)}/site`));
  t.end();
});
