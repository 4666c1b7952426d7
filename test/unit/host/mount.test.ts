import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import t, { type Test } from 'tap';
import { type MountRequest, withMounted } from '../../../lib/host/mount.ts';
import { testHost } from '../agents/host/host.ts';
import { recordLimits } from './timers.ts';

/** A host whose mount and umount do nothing and succeed. */
function host(t: Test, changes: Partial<MountRequest> = {}) {
  const { programs, paths } = testHost(t);
  for (const name of ['mount', 'umount']) programs.give(name, '');
  const request: MountRequest = {
    device: '/dev/vda4',
    fstype: 'xfs',
    writable: true,
    runFolder: paths.run,
    signal: AbortSignal.timeout(60_000),
    ...changes,
  };
  return { programs, request };
}

t.test('a read-only mount does not even replay a journal', async (t) => {
  const table: [fstype: string | null, writable: boolean, options: string][] = [
    ['ext4', false, 'ro,noload'],
    ['xfs', false, 'ro,norecovery'],
    ['vfat', false, 'ro'],
    [null, false, 'ro'],
    ['ext4', true, 'rw'],
    ['xfs', true, 'rw'],
  ];
  for (const [fstype, writable, options] of table) {
    const { programs, request } = host(t, { fstype, writable });
    await withMounted(request, async (folder) => {
      // Nothing on the disk can be executed, opened as a device, or run with its owner's rights.
      t.same(programs.calls(), [
        `mount -o ${options},nosuid,nodev,noexec ${request.device} ${folder}`,
      ]);
    });
  }
});

t.test('it stays mounted while in use', async (t) => {
  const { programs, request } = host(t);
  const limits = recordLimits(t);
  const folders: string[] = [];
  const use = (folder: string) =>
    withMounted(request, async (other) => {
      folders.push(folder, other);
      t.equal(dirname(other), request.runFolder);
      t.match(other, /\/mount-\w+$/);
      t.equal(statSync(request.runFolder).mode & 0o777, 0o700, 'closed to others');
      t.same(programs.calls('umount'), []);
      return 'read';
    });
  t.equal(await withMounted(request, use), 'read');
  t.equal(new Set(folders).size, 2, 'two at once have folders of their own');
  t.same(
    programs.calls('umount'),
    folders.toReversed().map((folder) => `umount ${folder}`),
  );
  t.same(readdirSync(request.runFolder), []);
  t.same(limits, Array(4).fill(60_000));
});

t.test('it is unmounted after a failure and after a stop', async (t) => {
  const stop = new AbortController();
  const { programs, request } = host(t, { signal: stop.signal });
  const failing = withMounted(request, async () => {
    stop.abort();
    throw new Error('cannot be read');
  });
  await t.rejects(failing, { message: 'cannot be read' });
  t.equal(programs.calls('umount').length, 1);
  t.same(readdirSync(request.runFolder), []);
  programs.forgetCalls();
  await t.rejects(
    withMounted(request, async () => t.fail('was used')),
    /stopped/,
  );
  t.same(readdirSync(request.runFolder), []);
});

t.test('a failed mount is not used; a failed unmount is reported', async (t) => {
  const { programs, request } = host(t);
  programs.give('mount', 'echo "bad superblock" >&2; exit 32');
  await t.rejects(
    withMounted(request, async () => t.fail('was used')),
    { code: 'command-failed', message: /bad superblock/ },
  );
  t.same(programs.calls('umount'), []);
  t.same(readdirSync(request.runFolder), []);
  programs.give('mount', '');
  programs.give('umount', 'echo "target is busy" >&2; exit 32');
  await t.rejects(
    withMounted(request, async (folder) => t.ok(existsSync(folder))),
    { message: /target is busy/ },
  );
});
