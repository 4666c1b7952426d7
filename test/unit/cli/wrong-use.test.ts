/** What a person types at the first try: one sentence that says what to do, exit code 2, and nothing written. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sno } from './run-sno.ts';

t.test('a folder that takes no files', async (t) => {
  const dir = t.testdir({ file: '' });
  symlinkSync(join(dir, 'nowhere'), join(dir, 'dangling'));
  for (const [name, found] of [
    ['file', 'something else is there'],
    ['missing/below', 'no such file or directory'],
    ['dangling', 'no such file or directory|something else is there'],
    ['x'.repeat(300), 'name too long'],
  ] as const) {
    t.match(await sno(['create', 'install-config', '--dir', join(dir, name)]), {
      code: 2,
      err: new RegExp(
        `^sno: .* cannot be written; nothing was written; found (${found}) .* Use a folder`,
      ),
    });
  }
  t.same(readdirSync(dir).toSorted(), ['dangling', 'file']);
});

t.test('an empty value is not the present folder', async (t) => {
  const before = process.cwd();
  process.chdir(t.testdir({}));
  t.teardown(() => process.chdir(before));
  t.match(await sno(['create', 'install-config', '--dir', '']), {
    code: 2,
    err: /--dir <dir>: an empty value was given/,
  });
  t.same(readdirSync('.'), []);
});

t.test('what cannot be a kubeconfig is not waited for, nor read without end', async (t) => {
  for (const [make, found] of [
    [(path: string) => void execFileSync('mkfifo', [path]), 'a FIFO'],
    [(path: string) => symlinkSync('/dev/zero', path), 'a device'],
  ] as const) {
    const dir = t.testdir({ auth: {} });
    make(join(dir, 'auth/kubeconfig'));
    t.match(await sno(['wait-for', 'install-complete', '--dir', dir]), {
      code: 2,
      err: new RegExp(`auth/kubeconfig is not a regular file.*found ${found}`),
    });
  }
});

t.test('what is to be verified is not there', async (t) => {
  const key = join(t.testdir({ key: 'x' }), 'key');
  for (const args of [
    ['update', '/nowhere', '--ssh-key', key],
    ['site-volume', '/nowhere'],
    ['site-volume', '.', '--ssh-key', '/nowhere'],
    ['site-volume', '.', '--identity', '/nowhere'],
  ]) {
    t.match(await sno(['verify', ...args]), { code: 2, err: /\/nowhere.* cannot be read/ });
  }
});

t.test('a payload of nothing: how to have it fetched, in one line', async (t) => {
  const dir = join(t.testdir({}), 'payload');
  const run = await sno(['create', 'payload', '--dir', dir]);
  t.match(run, { code: 2, err: /1 error.*\n--kubernetes is missing/ });
  t.equal(run.err.split('\n').length, 2);
  t.notOk(existsSync(dir));
});

t.test('the help says what a command cannot do without', async (t) => {
  const { out } = await sno(['create', 'shared-iso', '--help']);
  const text = out.replace(/\s+/g, ' ');
  t.match(text, /--output <file> the new ISO \(required\)/);
  t.equal(text.match(/\(required\)/g)?.length, 2, 'and --iso');
});

t.test('the next command can be pasted', async (t) => {
  const dir = join(t.testdir({}), "it's\na folder");
  mkdirSync(dir);
  const { out } = await sno(['create', 'install-config', '--dir', dir]);
  const hint = out.slice(out.indexOf('--dir ') + 6);
  t.equal(execFileSync('sh', ['-c', `printf %s ${hint}`], { encoding: 'utf8' }), dir);
});
