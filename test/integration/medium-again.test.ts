import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { inspectDisk } from '../../agents/steps/inspect-disk.ts';
import { testHost } from '../unit/agents/host/host.ts';
import { type FakeVariables, fakeFirmware } from '../unit/host/boot-order/fake-firmware.ts';
import { loopDisk, run, settledUdev, withoutLoopDevices as skip } from './loop-disk.ts';

const SHIM = process.arch === 'arm64' ? 'shimaa64.efi' : 'shimx64.efi';
const MEDIUM = { label: 'UEFI: USB', path: 'PciRoot(0x0)/USB(1,0)' };
const firmware = (more: Partial<FakeVariables> = {}): FakeVariables => ({
  current: '0001',
  order: ['0001'],
  entries: { '0001': MEDIUM },
  ...more,
});

/**
 * A live host with the kernel's own view of a disk that contains a finished installation. Its EFI
 * system partition is ext4, since not every kernel supports FAT.
 */
async function finishedHost(t: Test, variables: FakeVariables | undefined) {
  const { folder, file, device, partition } = await loopDisk(t, [
    { name: 'EFI-SYSTEM', type: 'ef00' },
    { name: 'root', type: '8304' },
  ]);
  await settledUdev(t, folder);
  const host = testHost(t, { programs: 'real' });
  const { cluster } = host.context;
  const at = (path: string) => host.paths.at(path);
  host.write('/run/systemd/container', 'a test');
  await mkdir(at('/sys'), { recursive: true });
  await symlink('/sys/class', at('/sys/class'));
  for (const name of ['proc', 'dev']) await symlink(`/${name}`, at(`/${name}`));
  const contents = at('/contents');
  const marker = { clusterId: cluster.clusterId, cluster: 'x', state: 'finished', at: 'then' };
  host.write(join(contents, 'esp/EFI/redhat', SHIM), '');
  host.write(join(contents, 'root/var/lib/sno-agents/installation.json'), JSON.stringify(marker));
  await run('mke2fs', '-q', '-t', 'ext4', '-d', join(contents, 'esp'), partition(1));
  await run('mke2fs', '-q', '-t', 'ext4', '-L', 'root', '-d', join(contents, 'root'), partition(2));
  if (variables !== undefined) await mkdir(at('/sys/firmware/efi'), { recursive: true });
  const { stdout } = await run('blkid', '-p', '-s', 'PART_ENTRY_UUID', '-o', 'value', partition(1));
  const now = fakeFirmware(t, join(folder, 'firmware'), {
    ...(variables ?? firmware()),
    partition: stdout.trim(),
  });
  const installation = { ...cluster.installation, disk: device };
  const context = { ...host.context, cluster: { ...cluster, installation } };
  return {
    now,
    lines: host.lines,
    inspect: () => inspectDisk.run(context, host.progress()),
    /** SHA-256 of every byte of the disk. */
    digest: async () => {
      await run('sync', file);
      return (await execa('sha256sum', [file], { timeout: 30_000 })).stdout;
    },
    marker: async () => {
      const debugfs = ['-R', 'cat /var/lib/sno-agents/installation.json', partition(2)];
      return (await run('debugfs', ...debugfs)).stdout;
    },
  };
}

t.test('the medium is booted again over a finished installation', { skip }, async (t) => {
  await t.test('EFI: the disk is put first, once', async (t) => {
    const { now, inspect, marker } = await finishedHost(t, firmware());
    t.match(await inspect(), {
      kind: 'reboot',
      reason: /holds a finished installation, and is now first in the boot order/,
    });
    t.match(now(), { order: ['0000', '0001'], next: '0000' });
    t.match(await marker(), /"state": "finished",[\s\S]*"bootOrderSetAt": "20/);
    await t.rejects(inspect(), {
      kind: 'fatal',
      message: /first in the boot order at 20.*; found the live medium booted again\. Remove/,
    });
  });

  await t.test('a firmware that refuses: nothing changes', async (t) => {
    const { inspect, lines, digest } = await finishedHost(t, firmware({ fault: 'read-only' }));
    const before = await digest();
    await t.rejects(inspect(), {
      kind: 'fatal',
      message: /completed at then\. Nothing was changed/,
    });
    t.match(lines.join(''), /cannot be restarted into its disk: .*Read-only file system/);
    t.equal(await digest(), before);
  });

  await t.test('a BIOS: nothing changes', async (t) => {
    const { inspect, digest } = await finishedHost(t, undefined);
    const before = await digest();
    await t.rejects(inspect(), {
      kind: 'fatal',
      message: /completed at then\. Nothing was changed/,
    });
    t.equal(await digest(), before);
  });
});
