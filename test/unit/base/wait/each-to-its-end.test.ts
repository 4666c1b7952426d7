import t from 'tap';
import { eachToItsEnd } from '../../../../lib/base/wait/each-to-its-end.ts';

t.test('results are in order; a failure is thrown when all others have ended', async (t) => {
  t.strictSame(await eachToItsEnd([3, 1, 2], async (n) => n * 2, 2), [6, 2, 4]);
  const ended: number[] = [];
  let running = 0;
  let most = 0;
  const body = async (n: number) => {
    most = Math.max(most, ++running);
    for (let turn = 0; turn < n * 5; turn++) await null;
    running -= 1;
    if (n % 2 === 1) throw new Error(`${n} failed`);
    ended.push(n);
  };
  await t.rejects(eachToItsEnd([2, 1, 4, 3, 6], body, 2), { message: '1 failed' });
  t.strictSame(ended, [2, 4, 6]);
  t.strictSame([most, running], [2, 0]);
});
