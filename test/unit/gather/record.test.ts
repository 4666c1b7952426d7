import { join } from 'node:path';
import t from 'tap';
import { RedactionThread } from '../../../lib/secrets/threads/redaction-thread.ts';
import { gatherHere } from './in-process.ts';
import { GatherTester, listed, unpacked } from './tester.ts';

t.test('a record that cannot be redacted costs the record only', async (t) => {
  const tester = new GatherTester(t);
  const { push } = RedactionThread.prototype;
  // As when the thread ends at it.
  t.capture(RedactionThread.prototype, 'push', function (this: RedactionThread, stream, bytes) {
    const isRecord = Buffer.from(bytes).includes('Log bundle x of');
    return isRecord ? Promise.reject(new Error('it has ended')) : push.call(this, stream, bytes);
  });
  const ended = await gatherHere(
    tester,
    ['gather', '--id', 'x'],
    [{ path: 'good.txt', does: 'text', text: 'good\n' }],
  );
  const archive = join(tester.home, 'log-bundle-x.tar.gz');
  t.equal(unpacked(archive, 'log-bundle-x/good.txt'), 'good\n');
  t.ok(listed(archive).includes('log-bundle-x/gather.json'));
  t.notOk(listed(archive).includes('log-bundle-x/gather.log'));
  t.match(ended.stdout.toString(), /gather\.log: it has ended/);
});
