/** What the system has deleted on /boot before the clean-up: on a real file system, read from outside. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { clean } from '../../../agents/steps/clean.ts';
import { testHost } from '../../unit/agents/host/host.ts';
import { fakeRuntime } from '../../unit/agents/host/runtime.ts';
import { withoutLoopDevices as skip } from '../loop-disk.ts';

t.test('the disk of /boot forgets what is free there', { skip }, async (t) => {
  const host = testHost(t, { programs: 'real' });
  // systemd does not run on every machine.
  host.programs.give('systemd-run', 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
  host.write('/etc/sno-agents/leftovers.json', JSON.stringify({ entries: [], goneKeys: [] }));
  await fakeRuntime(t, host, () => []);
  const disk = join(host.root, '../boot.raw');
  const boot = host.at('/boot');
  mkdirSync(boot);
  execFileSync('truncate', ['--size', '16M', disk]);
  execFileSync('mkfs.ext4', ['-q', disk]);
  execFileSync('mount', ['-o', 'loop', disk, boot]);
  let isMounted = true;
  const unmount = () => {
    if (isMounted) execFileSync('umount', [boot]);
    isMounted = false;
  };
  t.teardown(unmount);
  const secret = randomBytes(100_000);
  writeFileSync(join(boot, 'config.ign'), secret);
  writeFileSync(join(boot, 'kept'), 'a kernel');
  execFileSync('sync', ['--file-system', boot]);
  const isOnDisk = () => readFileSync(disk).includes(secret.subarray(50_000, 50_048));
  t.ok(isOnDisk(), 'it is there');
  rmSync(join(boot, 'config.ign'));
  execFileSync('sync', ['--file-system', boot]);
  t.ok(isOnDisk(), 'and still there once it is deleted');
  t.match(await host.run(clean), { kind: 'done' });
  t.notMatch(host.lines.join(''), 'does not forget');
  t.equal(readFileSync(join(boot, 'kept'), 'utf8'), 'a kernel');
  unmount();
  t.notOk(isOnDisk());
});
