import {
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { callerOf } from '../../../agents/gather/entrance/caller.ts';
import { gatherHere } from '../../unit/gather/in-process.ts';
import type { Synthetic } from '../../unit/gather/synthetic.ts';
import { GatherTester, listed } from '../../unit/gather/tester.ts';

const archiveOf = ({ home }: GatherTester, id: string) => join(home, `log-bundle-${id}.tar.gz`);

t.test('the destination', async (t) => {
  const tester = new GatherTester(t);
  const sources: Synthetic[] = [{ path: 'a/b.txt', does: 'text', text: 'b\n' }];
  const { root, home } = tester;
  const run = async (args: readonly string[], environment: Record<string, string> = {}) => {
    const ended = await gatherHere(tester, ['installer-gather.sh', '--id', 'x', ...args], sources, {
      environment: { HOME: home, ...environment },
    });
    t.equal(ended.code, 0, ended.stderr);
    return ended;
  };
  await run([], { TAR_FILE: join(root, 'tar-file') });
  t.ok(listed(join(root, 'tar-file')).includes('log-bundle-x/a/b.txt'));
  await run(['--to', join(root, 'to-file')], { TAR_FILE: join(root, 'not-this') });
  t.ok(listed(join(root, 'to-file')).includes('log-bundle-x/a/b.txt'));
  const streamed = await run(['--to', '-']);
  writeFileSync(join(root, 'streamed'), streamed.stdout);
  t.ok(listed(join(root, 'streamed')).includes('log-bundle-x/a/b.txt'));
  t.notMatch(streamed.stderr, 'Log bundle written to');
  mkdirSync(join(root, 'existing'));
  for (const folder of ['existing', 'new/']) {
    await run(['--to', join(root, folder)]);
    t.equal(readFileSync(join(root, folder, 'a/b.txt'), 'utf8'), 'b\n');
    t.equal(statSync(join(root, folder, 'a')).mode & 0o777, 0o700);
  }
  mkdirSync(join(root, 'mine'));
  writeFileSync(join(root, 'mine/gather.log'), 'mine');
  for (const folder of ['mine', 'mine/', 'existing']) {
    const to = join(root, folder);
    const refused = await gatherHere(tester, ['gather', '--id', 'x', '--to', to], sources, {
      environment: { HOME: home },
    });
    t.match(refused, {
      code: 2,
      stderr: /is not empty; expected a new or empty folder.* such as --to .*log-bundle-x\//,
    });
  }
  t.strictSame(readdirSync(join(root, 'mine')), ['gather.log']);
  t.equal(readFileSync(join(root, 'mine/gather.log'), 'utf8'), 'mine');
  symlinkSync('/etc/hosts', archiveOf(tester, 'x'));
  const hosts = readFileSync('/etc/hosts', 'utf8');
  await run([]);
  t.equal(readFileSync('/etc/hosts', 'utf8'), hosts);
  t.ok(
    listed(archiveOf(tester, 'x')).includes('log-bundle-x/a/b.txt'),
    'a link that lay there is replaced',
  );
  t.strictSame(readdirSync(home), ['log-bundle-x.tar.gz']);
});

t.test("the masters' folder", async (t) => {
  const tester = new GatherTester(t);
  const sources: Synthetic[] = [{ path: 'journals/kubelet.log', does: 'text', text: 'b\n' }];
  const folder = join(tester.root, 'tmp/artifacts-x');
  const run = () => gatherHere(tester, ['installer-masters-gather.sh', '--id', 'x'], sources);
  t.match(await run(), { code: 0 });
  t.equal(statSync(folder).mode & 0o777, 0o700);
  writeFileSync(join(folder, 'of-before'), '');
  const again = await run();
  t.equal(again.stdout.toString().trimEnd().split('\n').at(-1), `Log bundle written to ${folder}`);
  t.strictSame(
    readdirSync(folder).toSorted(),
    ['SUMMARY.txt', 'gather.json', 'gather.log', 'journals', 'report.html', 'report.json'],
    'the earlier one is replaced',
  );
  await gatherHere(tester, ['installer-masters-gather.sh', '--id', 'y'], sources);
  const table: [string, (path: string) => void, RegExp][] = [
    ['file', (path) => writeFileSync(path, ''), /found a file/],
    ['link', (path) => symlinkSync('/etc', path), /found a link/],
  ];
  for (const [id, lay, message] of table) {
    const path = join(tester.root, `tmp/artifacts-${id}`);
    lay(path);
    const refused = await gatherHere(tester, ['installer-masters-gather.sh', '--id', id], sources);
    t.match(refused, { code: 2, stderr: message });
    t.match(refused.stderr, path);
  }
});

const isRoot = process.getuid?.() === 0;

t.test('the caller gets the bundle', { skip: isRoot ? false : 'needs root' }, async (t) => {
  const tester = new GatherTester(t);
  const sources: Synthetic[] = [{ path: 'a/b.txt', does: 'text', text: 'b\n' }];
  const owner = { uid: 4321, gid: 4321 };
  const call = (entrance: 'gather' | 'installer-masters-gather.sh') =>
    gatherHere(tester, [entrance, '--id', 'x'], sources, { owner });
  t.equal((await call('gather')).code, 0);
  t.match(statSync(archiveOf(tester, 'x')), owner);
  for (const round of ['first', 'again']) {
    t.equal((await call('installer-masters-gather.sh')).code, 0, round);
    const folder = join(tester.root, 'tmp/artifacts-x');
    for (const name of ['', 'a', 'a/b.txt', 'gather.log']) {
      t.match(statSync(join(folder, name)), owner, name);
    }
  }
  const other = join(tester.root, 'tmp/artifacts-y');
  mkdirSync(other);
  chownSync(other, 1234, 1234);
  t.match(
    await gatherHere(tester, ['installer-masters-gather.sh', '--id', 'y'], sources, { owner }),
    {
      code: 2,
      stderr: /artifacts-y is in the way; .*found a folder of user 1234/,
    },
  );
  t.match(callerOf({ SUDO_UID: '4321', SUDO_GID: '4321' }, 0), owner);
  for (const [environment, uid] of [
    [{}, 0],
    [{ SUDO_UID: '0', SUDO_GID: '0' }, 0],
    [{ SUDO_UID: '-1', SUDO_GID: '1' }, 0],
    [{ SUDO_UID: '4321' }, 0],
    [{ SUDO_UID: '4321', SUDO_GID: '4321' }, 4321],
  ] as const) {
    t.equal(callerOf(environment, uid), undefined);
  }
});
