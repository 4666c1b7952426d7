import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import t, { type Test } from 'tap';
import { attachLoopDevice, detachLoopDevice } from '../../lab/host/loop.ts';
import { refuseDisk } from '../../lib/cluster/installation/disk-refusal.ts';
import { keptPartitions, requireKept } from '../../lib/cluster/installation/kept-partitions.ts';
import { readBlockNode } from '../../lib/host/block-device.ts';
import { findDisk, labelledElsewhere, readDisk } from '../../lib/host/disk.ts';
import { readDiskUse } from '../../lib/host/disk-use.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { loopDisk, run, settledUdev, withoutLoopDevices as skip, soon } from './loop-disk.ts';

/** Why the kernel's data forbids this device; as in a container, where loop devices are disks. */
async function refusalOf(device: string): Promise<string | undefined> {
  const node = await readBlockNode(hostPaths(), basename(device));
  if (node === undefined) throw new Error(`the kernel does not know ${device}`);
  const use = await readDiskUse(hostPaths(), device, { path: device, node });
  return refuseDisk(device, { ...use, inContainer: true })?.message;
}

const disk = (t: Test) =>
  loopDisk(
    t,
    ['boot1', 'data2', 'data3'].map((name) => ({ name, type: '8300' })),
  );

t.test('a loop device as the disk, in the kernel that runs this', { skip }, async (t) => {
  await t.test('it is not in use', async (t) => {
    const { device, partition } = await disk(t);
    t.equal(await refusalOf(device), undefined);
    t.match(await refusalOf(partition(2)), `found partition 2 of ${device}`);
  });

  await t.test('a partition is mounted', async (t) => {
    const { folder, device, partition } = await disk(t);
    await run('mkfs.ext4', '-q', partition(1));
    const at = join(folder, 'a b');
    await mkdir(at);
    await run('mount', partition(1), at);
    t.teardown(() => run('umount', at));
    t.match(await refusalOf(device), `${partition(1)} is mounted on ${at}`);
  });

  await t.test('a partition is swap', async (t) => {
    const { device, partition } = await disk(t);
    await run('mkswap', partition(2));
    await run('swapon', partition(2));
    t.teardown(() => run('swapoff', partition(2)));
    t.match(await refusalOf(device), `${partition(2)} is used as swap`);
  });

  await t.test('another loop device uses it', async (t) => {
    const { device } = await disk(t);
    const upper = await attachLoopDevice(device, {}, soon());
    t.teardown(() => detachLoopDevice(upper, soon()));
    t.match(await refusalOf(device), `is used by the loop device ${upper.replace('/dev/', '')}`);
  });

  await t.test('a program has opened a partition exclusively', async (t) => {
    const { device, partition } = await disk(t);
    const file = await open(partition(3), constants.O_RDONLY | constants.O_EXCL);
    t.match(await refusalOf(device), /is in use; found .*EBUSY/);
    await file.close();
    t.equal(await refusalOf(device), undefined);
  });

  await t.test('it is read-only', async (t) => {
    const { folder } = await disk(t);
    const device = await attachLoopDevice(join(folder, 'disk.raw'), { readOnly: true }, soon());
    t.teardown(() => detachLoopDevice(device, soon()));
    t.match(await refusalOf(device), 'a read-only disk');
  });

  await t.test('partitions to keep are found by their names in its table', async (t) => {
    const { folder, device } = await disk(t);
    await settledUdev(t, folder);
    const found = await readDisk(device, hostPaths(), soon());
    const { kept } = keptPartitions(found, { labels: ['data*'], indexes: ['1'] });
    t.strictSame(
      kept.map(({ number, partlabel }) => [number, partlabel]),
      [
        [1, 'boot1'],
        [2, 'data2'],
        [3, 'data3'],
      ],
    );
    t.ok(kept.every(({ startBytes = 0 }) => startBytes >= 2 ** 20));
    t.throws(
      () => requireKept(device, found, keptPartitions(found, { labels: ['logs'], indexes: [] })),
      { message: /found partitions 1 \(boot1\), 2 \(data2\), 3 \(data3\)/ },
    );
  });

  await t.test('a file system of another disk has the label of the installed system', async (t) => {
    const [target, other] = [await disk(t), await disk(t)];
    await settledUdev(t, target.folder);
    for (const { partition } of [target, other]) {
      await run('mkfs.ext4', '-q', '-L', 'root', partition(1));
      await run('mkfs.ext4', '-q', '-L', 'data', partition(2));
    }
    const found = async () => {
      const installed = await findDisk(target.device, hostPaths(), soon());
      const elsewhere = await labelledElsewhere(['boot', 'root'], installed, hostPaths(), soon());
      // Other disks of this machine may have one, too, also those of a lab beside this test.
      const own = [target, other].map(({ device }) => `${device}p`);
      return elsewhere.filter(({ path }) => own.some((device) => path.startsWith(device)));
    };
    t.same(await found(), [{ path: other.partition(1), label: 'root' }]);
    await run('e2label', other.partition(1), '');
    t.same(await found(), [], 'what the advice says takes it away');
  });
});
