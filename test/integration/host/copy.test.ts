import { lstatSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { copyFile } from '../../../lib/host/copy.ts';
import { testHost } from '../../unit/agents/host/host.ts';
import { thrownBy } from '../../unit/base/errors/thrown-by.ts';
import { recordFileOperations } from '../../unit/host/file-operations.ts';
import { recordLimits } from '../../unit/host/timers.ts';

const signal = AbortSignal.timeout(60_000);
const modeOf = (path: string) => statSync(path).mode & 0o7777;

t.test('a copy has its mode, and is synced before it gets its name', async (t) => {
  const folder = t.testdir({ source: 'content' });
  const umask = process.umask(0o077);
  t.teardown(() => process.umask(umask));
  const files = await recordFileOperations(t, folder);
  await copyFile(join(folder, 'source'), join(folder, 'target'), 0o755, signal);
  t.same(files.seen, ['sync .target.new', 'rename .target.new -> target', 'sync .']);
  t.equal(readFileSync(join(folder, 'target'), 'utf8'), 'content');
  t.equal(modeOf(join(folder, 'target')), 0o755, 'whatever the umask');
  process.umask(0);
  await copyFile(join(folder, 'source'), join(folder, 'deep/er/target'), 0o600, signal);
  t.equal(modeOf(join(folder, 'deep/er/target')), 0o600);
  t.equal(modeOf(join(folder, 'deep')), 0o755, 'of a new folder');
  t.same(await readdir(join(folder, 'deep/er')), ['target']);
});

t.test('leftovers of an interrupted copy are copied again', async (t) => {
  const folder = t.testdir({ source: 'new', target: 'old', '.target.new': 'ne', victim: 'kept' });
  await copyFile(join(folder, 'source'), join(folder, 'target'), 0o644, signal);
  t.equal(readFileSync(join(folder, 'target'), 'utf8'), 'new');
  symlinkSync('victim', join(folder, '.target.new'));
  await copyFile(join(folder, 'source'), join(folder, 'target'), 0o644, signal);
  t.ok(lstatSync(join(folder, 'target')).isFile());
  t.equal(readFileSync(join(folder, 'victim'), 'utf8'), 'kept', 'a link is not followed');
  t.same(await readdir(folder), ['source', 'target', 'victim']);
});

t.test('the copy is verified before it replaces an existing file', async (t) => {
  const folder = t.testdir({ source: 'new', target: 'old' });
  const target = join(folder, 'target');
  const files = await recordFileOperations(t, folder);
  const seen: string[] = [];
  const check = async (copy: string) => {
    seen.push(copy, await readFile(copy, 'utf8'), await readFile(target, 'utf8'));
    throw new Error('another digest');
  };
  await t.rejects(copyFile(join(folder, 'source'), target, 0o644, signal, check), {
    message: 'another digest',
  });
  t.same(seen, [join(folder, '.target.new'), 'new', 'old']);
  t.same(files.seen, ['sync .target.new', 'rm .target.new']);
  t.equal(readFileSync(target, 'utf8'), 'old');
});

t.test('a failed copy keeps the existing file', async (t) => {
  const folder = t.testdir({ source: 'new', target: 'old' });
  const [source, target] = [join(folder, 'source'), join(folder, 'target')];
  symlinkSync('source', join(folder, 'link'));
  await t.rejects(copyFile(join(folder, 'none'), target, 0o644, signal), {
    code: 'command-failed',
    message: /No such file/,
  });
  await t.rejects(copyFile(join(folder, 'link'), target, 0o600, signal), { code: 'ELOOP' });
  await t.rejects(copyFile(source, target, 0o644, AbortSignal.abort()), /stopped/);
  for (const operation of [/^sync \.target/, /^rename/]) {
    const files = await recordFileOperations(t, folder);
    files.failAt(operation, new Error('EIO'));
    await t.rejects(copyFile(source, target, 0o644, signal), { message: 'EIO' });
  }
  t.equal(readFileSync(target, 'utf8'), 'old');
  t.not(modeOf(source), 0o600, 'what a link leads to is left alone');
  t.same(await readdir(folder), ['link', 'source', 'target']);
});

t.test('a full disk and a folder that cannot be synced are reported', async (t) => {
  const { programs } = testHost(t);
  const folder = t.testdir({ source: 'new' });
  const target = join(folder, 'target');
  programs.give('cp', 'echo half > "$5"; echo "No space left on device" >&2; exit 1');
  t.match(await thrownBy(copyFile(join(folder, 'source'), target, 0o644, signal)), {
    kind: 'retry',
    message: /No space left on device/,
  });
  t.same(programs.calls(), [
    `cp --reflink=auto --no-dereference -- ${folder}/source ${folder}/.target.new`,
  ]);
  t.same(await readdir(folder), ['source']);
  programs.give('cp', 'exec /bin/cp "$@"');
  const limits = recordLimits(t);
  const files = await recordFileOperations(t, folder);
  files.failAt(/^sync \.$/, new Error('EIO'));
  await t.rejects(copyFile(join(folder, 'source'), target, 0o644, signal), { message: 'EIO' });
  t.same(limits, [15 * 60_000]);
});
