import { mkdirSync } from 'node:fs';
import t, { type Test } from 'tap';
import { bootOrder } from '../../../../agents/install-to-disk/boot-order.ts';
import { inspectDisk } from '../../../../agents/steps/inspect-disk.ts';
import { cluster } from '../../../unit/agents/host/cluster.ts';
import { diskFile, type FakeDisk, giveDisk } from '../../../unit/agents/host/disk.ts';
import { type HostOptions, type TestHost, testHost } from '../../../unit/agents/host/host.ts';
import { type FakeVariables, fakeFirmware } from '../../../unit/host/boot-order/fake-firmware.ts';

const MARKER = 'var/lib/sno-agents/installation.json';
const marker = (more: object = {}) =>
  JSON.stringify({ clusterId: cluster.clusterId, cluster: 'edge', at: 'then', ...more });
const SHIM = `EFI/redhat/shim${process.arch === 'arm64' ? 'aa64' : 'x64'}.efi`;
const ESP = 'C12A7328-F81F-11D2-BA4B-00A0C93EC93B';
const GUID = '01234567-89ab-cdef-0123-456789abcdef';

/** A disk with an EFI system partition, and a root with that marker. */
const installed = (mark: string): FakeDisk => ({
  partitions: [
    { label: 'EFI-SYSTEM', parttype: ESP, partuuid: GUID, fstype: 'vfat', files: { [SHIM]: '' } },
    { label: 'root', fstype: 'xfs', files: { [MARKER]: mark } },
  ],
});

function host(
  t: Test,
  disk: FakeDisk,
  existingSystem: 'refuse' | 'overwrite' = 'refuse',
): TestHost {
  const options: HostOptions = {
    cluster: { installation: { ...cluster.installation, existingSystem } },
  };
  const it = testHost(t, options);
  giveDisk(it, disk);
  return it;
}

/** Firmware that booted a medium; its programs take precedence over the host's. */
function giveFirmware(t: Test, it: TestHost, fault?: FakeVariables['fault']) {
  mkdirSync(it.at('/sys/firmware/efi'), { recursive: true });
  return fakeFirmware(t, it.at('/firmware'), {
    current: '0001',
    order: ['0001'],
    entries: { '0001': { label: 'UEFI: USB', path: 'PciRoot(0x0)/USB(1,0)' } },
    partition: GUID,
    ...(fault === undefined ? {} : { fault }),
  });
}

t.test('inspect-disk', async (t) => {
  const cases: [title: string, disk: FakeDisk, says: RegExp, overwrites: boolean][] = [
    ['empty', {}, /\/dev\/vda is empty/, true],
    ['half-finished', installed(marker({ state: 'writing' })), /unfinished installation/, true],
    [
      'written with the Ignition of this cluster',
      { partitions: [{ label: 'boot', files: { 'ignition/config.ign': cluster.clusterId } }] },
      /unfinished installation/,
      true,
    ],
    [
      'of another cluster',
      installed(marker({ clusterId: 'another', state: 'finished' })),
      /holds another system; .*the cluster edge/,
      false,
    ],
    [
      'with another system',
      { partitions: [{ label: 'data' }] },
      /another system.*partitions data/,
      false,
    ],
    ['with a file system', { fstype: 'ext4' }, /another system.*ext4 file system/, false],
  ];
  for (const [title, disk, says, isWritable] of cases) {
    t.test(`a disk that is ${title}`, async (t) => {
      const it = host(t, disk);
      if (isWritable) {
        t.match(await it.run(inspectDisk), { kind: 'done', note: says });
      } else {
        t.match(await it.failureOf(inspectDisk), { kind: 'fatal', message: says });
        const overwriting = host(t, disk, 'overwrite');
        t.match(await overwriting.run(inspectDisk), { kind: 'done', note: /will be overwritten/ });
      }
      t.notOk(it.programs.calls('mount -o rw').length, 'nothing is mounted to be written');
      t.equal(await it.holds(inspectDisk), true);
    });
  }

  t.test('a disk in use is refused even if it may be overwritten', async (t) => {
    const it = host(t, { mountinfo: '1 1 252:0 / /mnt rw - ext4 /dev/vda rw\n' }, 'overwrite');
    t.match(await it.failureOf(inspectDisk), { kind: 'fatal', message: /\/dev\/vda.*\/mnt/ });
  });

  t.test('a disk that does not exist, or is not a device', async (t) => {
    const it = host(t, {});
    it.remove('/sys/class/block/vda');
    t.match(await it.failureOf(inspectDisk), { kind: 'fatal', message: /not a block device/ });
    it.remove('/dev/vda');
    it.write('/dev/disk/by-id/virtio-1');
    t.match(await it.failureOf(inspectDisk), {
      kind: 'fatal',
      message: /\/dev\/vda does not exist; found the disks \/dev\/disk\/by-id\/virtio-1/,
    });
  });

  t.test('a disk that cannot be read is not called empty', async (t) => {
    const it = host(t, {});
    it.programs.give('blkid', 'echo "Input/output error" >&2; exit 4');
    t.match(await it.failureOf(inspectDisk), { kind: 'retry', message: /cannot be read.*Input/ });
  });

  t.test('another disk or other arguments run it again', async (t) => {
    const it = host(t, {});
    t.same(await inspectDisk.input(it.context), [cluster.clusterId, cluster.installation]);
  });

  t.test('a finished installation of this cluster', async (t) => {
    const finished = installed(marker({ state: 'finished' }));

    t.test('EFI: the disk is put first, this is marked on it, and the host reboots', async (t) => {
      const it = host(t, finished);
      const firmware = giveFirmware(t, it);
      t.match(await it.run(inspectDisk), {
        kind: 'reboot',
        reason: /\/dev\/vda.*first in the boot order/,
      });
      t.match(firmware(), { order: ['0000', '0001'] });
      const mark = JSON.parse(it.read(diskFile(2, MARKER)));
      t.match(mark, { state: 'finished', at: 'then', bootOrderSetAt: /^20\d\d-/ });
    });

    t.test('only once', async (t) => {
      const it = host(t, installed(marker({ state: 'finished', bootOrderSetAt: 'yesterday' })));
      const firmware = giveFirmware(t, it);
      const before = firmware();
      t.match(await it.failureOf(inspectDisk), {
        kind: 'fatal',
        code: 'disk-installed',
        message: /at yesterday; found the live medium booted again\. Remove/,
      });
      t.same(firmware(), before);
    });

    t.test('without EFI nothing is changed', async (t) => {
      const it = host(t, finished, 'overwrite');
      t.match(await it.failureOf(inspectDisk), {
        kind: 'fatal',
        message: /finished installation.*completed at then.*Nothing was changed/,
      });
      t.notOk(it.programs.calls('mount -o rw').length);
    });

    t.test('firmware that refuses: no marker, no reboot', async (t) => {
      const it = host(t, finished);
      giveFirmware(t, it, 'read-only');
      t.match(await it.failureOf(inspectDisk), { kind: 'fatal', message: /finished installation/ });
      t.match(it.lines.join(''), /cannot be restarted into its disk: .*Read-only/);
      t.notMatch(it.read(diskFile(2, MARKER)), 'bootOrderSetAt');
    });

    t.test('an agent that is told to stop does not report on the boot order', async (t) => {
      const it = host(t, finished);
      giveFirmware(t, it);
      it.programs.unless(
        'mount',
        'case "$2" in rw*) touch "$ROOT/writing"; exec sleep 300 ;; esac',
      );
      t.match(await it.stoppedAt('/writing', inspectDisk), { message: 'told to stop' });
      t.notMatch(it.lines.join(''), /cannot be restarted/);
    });

    t.test('a root that no longer exists: no marker, no reboot', async (t) => {
      const it = host(t, finished);
      giveFirmware(t, it);
      // The disk is read twice: to inspect it, and to mark it.
      it.programs.give(
        'lsblk',
        'echo >> "$ROOT/reads"; [ "$(wc -l < "$ROOT/reads")" -gt 1 ] && cat "$ROOT/lsblk-after.json" || cat "$ROOT/lsblk.json"',
      );
      it.write('/lsblk-after.json', it.read('/lsblk.json').replaceAll('"root"', '"other"'));
      t.match(await it.failureOf(inspectDisk), { kind: 'fatal', code: 'disk-installed' });
      t.match(it.lines.join(''), /has no partition named root/);
    });

    t.test('a marker that cannot be written: no reboot', async (t) => {
      const it = host(t, finished);
      giveFirmware(t, it);
      it.programs.unless('mount', 'case "$2" in rw*) exit 32 ;; esac');
      t.match(await it.failureOf(inspectDisk), { kind: 'fatal', message: /finished installation/ });
    });
  });
});

t.test('boot-order', async (t) => {
  const disk = installed(marker({ state: 'finished' }));

  t.test('EFI: the disk is first', async (t) => {
    const it = host(t, disk);
    const firmware = giveFirmware(t, it);
    t.match(await it.run(bootOrder), {
      kind: 'done',
      note: /\/dev\/vda.* is first in the boot order/,
    });
    t.match(firmware(), { order: ['0000', '0001'] });
    t.match(await it.run(bootOrder), { kind: 'done' }, 'again');
    t.match(firmware(), { order: ['0000', '0001'] });
    t.equal(await it.holds(bootOrder), true);
  });

  t.test('without EFI, says what to do', async (t) => {
    const it = host(t, disk);
    t.same(await it.run(bootOrder), { kind: 'done', note: 'left to the BIOS' });
    t.match(it.lines.join(''), /Put \/dev\/vda first in the firmware setup/);
  });

  t.test('firmware that refuses does not fail the installation', async (t) => {
    const it = host(t, disk);
    giveFirmware(t, it, 'full');
    t.same(await it.run(bootOrder), { kind: 'done', note: 'not changed' });
    t.match(it.lines.join(''), /boot order was not changed: .*No space left.*Put \/dev\/vda first/);
    const stop = AbortSignal.abort(new Error('told to stop'));
    await t.rejects(bootOrder.run(it.context, it.progress(stop)), /told to stop/);
  });
});
