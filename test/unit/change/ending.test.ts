/** How the last change is told to people. */
import t from 'tap';
import { lastText } from '../../../lib/change/ending.ts';

const AT = '2030-01-03T00:00:00Z';

t.test('the last change is told with its end and its time', async (t) => {
  const told = (outcome: string) => lastText('the update to 1.2.3', { outcome, endedAt: AT });
  t.equal(told('updated'), `last: the update to 1.2.3 is in use, ${AT}\n`);
  t.equal(told('reverted'), `last: the update to 1.2.3 was taken back, ${AT}\n`);
  t.equal(told('refused'), `last: the update to 1.2.3 failed before anything was changed, ${AT}\n`);
});
