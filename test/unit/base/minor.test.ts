import t from 'tap';
import { appliesIn, compareMinors, minorOf } from '../../../lib/base/minor.ts';

t.test('the minor version of a version', async (t) => {
  for (const [version, minor] of [
    ['v1.37.2', '1.37'],
    ['1.37.2', '1.37'],
    ['4.21.0-0.nightly-2026-01-01-000000', '4.21'],
    ['v1.37.0-rc.1', '1.37'],
    ['v01.037.0', '1.37'],
    ['1.37', undefined],
    ['vv1.37.2', undefined],
    ['latest', undefined],
    ['', undefined],
  ] as const) {
    t.equal(minorOf(version), minor, version);
  }
});

t.test('minor versions are compared as numbers', async (t) => {
  const sorted = (['1.9', '2.0', '1.10', '1.34'] as const).toSorted(compareMinors);
  t.strictSame(sorted, ['1.9', '1.10', '1.34', '2.0']);
});

t.test('both ends of a range are part of it', async (t) => {
  for (const [version, range, expected] of [
    ['4.18', { since: '4.18' }, true],
    ['4.17', { since: '4.18' }, false],
    ['4.9', { since: '4.18' }, false],
    ['4.14', { until: '4.14' }, true],
    ['4.15', { until: '4.14' }, false],
    ['5.0', { since: '4.18' }, true],
    ['4.16', { since: '4.15', until: '4.17' }, true],
    ['4.14', {}, true],
  ] as const) {
    t.equal(appliesIn(version, range), expected, `${version} in ${JSON.stringify(range)}`);
  }
});
