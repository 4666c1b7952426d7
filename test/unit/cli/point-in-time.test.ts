import t from 'tap';
import { pointInTime } from '../../../cli/create/update.ts';

t.test('the end of an update is a time that hosts read', async (t) => {
  for (const text of ['2127-01-31T00:00:00Z', '2128-02-29T23:59:59Z']) {
    t.equal(pointInTime(text), text);
  }
  for (const text of [
    ...['2127-02-29T00:00:00Z', '2127-04-31T00:00:00Z', '2127-01-31T24:00:00Z'],
    ...['2127-01-31', '2127-01-31T00:00:00', '2127-01-31T00:00:00+00:00', '2020-01-31T00:00:00Z'],
  ]) {
    t.throws(() => pointInTime(text), /expected a time|in the past/, text);
  }
});
