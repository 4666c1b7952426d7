import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { withWorkFolder } from '../../../lib/host/work-folder.ts';

t.test('it is empty, private, and deleted afterwards', async (t) => {
  const path = join(t.testdir({ work: { old: { 'left.key': 'key' } } }), 'work');
  const result = await withWorkFolder(path, async (work) => {
    t.equal(work, path);
    t.same(readdirSync(work), []);
    t.equal(statSync(work).mode & 0o777, 0o700);
    writeFileSync(join(work, 'new.key'), 'key');
    return 'made';
  });
  t.equal(result, 'made');
  t.notOk(existsSync(path));
});

t.test('it is deleted after a failure, too', async (t) => {
  const path = join(t.testdir(), 'not/yet/there');
  const failing = withWorkFolder(path, async (work) => {
    writeFileSync(join(work, 'new.key'), 'key');
    throw new Error('renderer failed');
  });
  await t.rejects(failing, /renderer failed/);
  t.notOk(existsSync(path));
});
