import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { copyFile } from '../../../lib/host/copy.ts';
import { testHost } from '../agents/host/host.ts';

const signal = AbortSignal.timeout(60_000);
const CONTENTS = 'x'.repeat(1 << 20);

t.test('a copy has its name when it is whole and was checked', async (t) => {
  const { programs } = testHost(t);
  programs.give('cp', 'exec /bin/cp "$@"');
  const folder = t.testdir({ source: CONTENTS, there: 'old' });
  const target = join(folder, 'there');
  await copyFile(join(folder, 'source'), target, 0o640, signal, async (copy) => {
    t.equal(readFileSync(copy, 'utf8'), CONTENTS);
    t.equal(readFileSync(target, 'utf8'), 'old', 'until it was checked');
  });
  t.equal(readFileSync(target, 'utf8'), CONTENTS);
  t.equal(statSync(target).mode & 0o777, 0o640);
  const refused = copyFile(join(folder, 'source'), join(folder, 'a/b'), 0o640, signal, () =>
    Promise.reject(new Error('another file')),
  );
  await t.rejects(refused, /another file/);
  t.same(readdirSync(join(folder, 'a')), [], 'nothing is left of what was refused');
  t.equal(programs.calls('cp').length, 2);
});

t.test('a link is not followed, and what was left of a copy is replaced', async (t) => {
  const folder = t.testdir({
    source: CONTENTS,
    link: t.fixture('symlink', 'source'),
    '.target.new': 'the beginning',
  });
  await t.rejects(copyFile(join(folder, 'link'), join(folder, 'other'), 0o600, signal), {
    code: 'ELOOP',
  });
  t.notOk(existsSync(join(folder, 'other')));
  await copyFile(join(folder, 'source'), join(folder, 'target'), 0o600, signal);
  t.equal(readFileSync(join(folder, 'target'), 'utf8'), CONTENTS);
  await t.rejects(copyFile(join(folder, 'none'), join(folder, 'x'), 0o600, signal), {
    code: 'command-failed',
  });
});
