/** A lab looks only for what is its own: labs of others run beside it, in other folders of the same machine. */
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { attachLoopDevice, detachLoopDevicesBelow } from '../../../lab/host/loop.ts';
import { leftOfRun, removeRunFolder, runsFolder } from '../../../lab/host/run-folder.ts';
import { withoutLoopDevices } from '../loop-disk.ts';

const signal = AbortSignal.timeout(60_000);

/** A run whose disk is on a loop device, in the cache of somebody. */
async function runWithDisk(t: Test, cache: string, name: string) {
  process.env.XDG_CACHE_HOME = cache;
  const folder = join(runsFolder(), name);
  await mkdir(folder, { recursive: true });
  const disk = join(folder, 'disk');
  await writeFile(disk, '');
  await truncate(disk, 1 << 20);
  await attachLoopDevice(disk, {}, signal);
  t.teardown(() => detachLoopDevicesBelow(folder, AbortSignal.timeout(30_000)));
  return { folder, disk };
}

t.test(
  'what a run leaves is found, and what others have is not',
  { skip: withoutLoopDevices },
  async (t) => {
    const before = process.env.XDG_CACHE_HOME;
    const root = await mkdtemp(join(tmpdir(), 'runs-'));
    t.teardown(async () => {
      if (before === undefined) delete process.env.XDG_CACHE_HOME;
      else process.env.XDG_CACHE_HOME = before;
      await rm(root, { recursive: true, force: true });
    });
    await runWithDisk(t, join(root, 'of-somebody'), 'cafe0001');
    await runWithDisk(t, join(root, 'own'), 'cafe00011');
    const { folder, disk } = await runWithDisk(t, join(root, 'own'), 'cafe0001');
    t.same(await leftOfRun('cafe0001'), [disk, folder]);
    await removeRunFolder(folder, signal);
    t.same(await leftOfRun('cafe0001'), []);
  },
);
