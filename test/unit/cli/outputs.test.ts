import { execFileSync } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { requireAbsent, writeOutputs } from '../../../cli/create/outputs.ts';

t.test('all or none: if one exists, the others are deleted', async (t) => {
  const dir = t.testdir({ taken: 'mine' });
  const outputs = ['auth/kubeconfig', 'taken'].map((name) => ({
    path: join(dir, name),
    contents: 'new',
  }));
  await t.rejects(writeOutputs(outputs), { code: 'EEXIST' });
  t.same(await readdir(dir), ['taken'], 'the new folder is gone too');
  t.equal(await readFile(join(dir, 'taken'), 'utf8'), 'mine');
});

t.test('an existing folder is kept', async (t) => {
  const dir = t.testdir({ auth: { other: '' }, taken: '' });
  const outputs = ['auth/kubeconfig', 'taken'].map((name) => ({
    path: join(dir, name),
    contents: 'new',
  }));
  await t.rejects(writeOutputs(outputs), { code: 'EEXIST' });
  t.same(await readdir(join(dir, 'auth')), ['other']);
});

t.test('outputs are complete and private, without other files', async (t) => {
  const dir = t.testdir({});
  await writeOutputs([
    { path: join(dir, 'auth/a'), contents: 'a' },
    { path: join(dir, 'b'), contents: 'b' },
  ]);
  t.same((await readdir(dir)).toSorted(), ['auth', 'b']);
  t.same(await readdir(join(dir, 'auth')), ['a']);
  t.equal(await readFile(join(dir, 'auth/a'), 'utf8'), 'a');
  t.equal((await stat(join(dir, 'b'))).mode & 0o777, 0o600);
  t.equal((await stat(join(dir, 'b'))).nlink, 1);
});

t.test('every existing output is named', async (t) => {
  const dir = t.testdir({ a: '', b: '' });
  await t.rejects(requireAbsent(['a', 'b', 'c'].map((name) => join(dir, name))), {
    kind: 'usage',
    message: /\/a and .*\/b; nothing was written/,
  });
});

t.test('a full disk is named, with what was to be written', { skip: noTmpfs() }, async (t) => {
  const dir = t.testdir({});
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', dir], { timeout: 30_000 });
  try {
    const path = join(dir, 'big');
    await t.rejects(writeOutputs([{ path, contents: 'x'.repeat(200_000) }]), {
      kind: 'usage',
      message: new RegExp(`${path} cannot be written: ${dir} is full.*expected 200000 bytes free`),
    });
    t.same(await readdir(dir), []);
  } finally {
    execFileSync('umount', [dir], { timeout: 30_000 });
  }
});

function noTmpfs(): string | false {
  return process.getuid?.() === 0 ? false : 'a small file system needs root';
}
