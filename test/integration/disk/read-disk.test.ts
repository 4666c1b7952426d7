import { symlinkSync } from 'node:fs';
import t, { type Test } from 'tap';
import { findDisk, partition, readDisk } from '../../../lib/host/disk.ts';
import { giveDisk } from '../../unit/agents/host/disk.ts';
import { testHost } from '../../unit/agents/host/host.ts';
import { thrownBy } from '../../unit/base/errors/thrown-by.ts';
import { recordLimits } from '../../unit/host/timers.ts';

const signal = AbortSignal.timeout(60_000);

/** lsblk's output for a device that it knows nothing about. */
const UNKNOWN = {
  size: 10,
  label: null,
  fstype: null,
  pttype: null,
  partlabel: null,
  parttype: null,
  partuuid: null,
};
const vda = { ...UNKNOWN, path: '/dev/vda', kname: 'vda', type: 'disk' };
const vda1 = { ...UNKNOWN, path: '/dev/vda1', kname: 'vda1', type: 'part' };

/** A host with the disk /dev/vda and its partition 1, and lsblk's output for both. */
function host(t: Test, blockdevices: readonly object[] = [vda]) {
  const host = testHost(t);
  giveDisk(host, { partitions: [{}] });
  host.write('/lsblk.json', JSON.stringify({ blockdevices }));
  host.programs.forgetCalls();
  return { host, read: (device = '/dev/vda') => readDisk(device, host.paths, signal) };
}

t.test('a disk is read from lsblk and the kernel', async (t) => {
  const known = {
    ...vda1,
    label: 'boot',
    fstype: 'ext4',
    pttype: 'gpt',
    partlabel: 'BOOT',
    parttype: 'bc13c2ff-59e6-4262-a352-b275fd6f7172',
    partuuid: '1b2c',
  };
  const { host: it, read } = host(t, [vda, known]);
  const limits = recordLimits(t);
  t.strictSame(await read(), {
    ...vda,
    children: [{ ...known, number: 1, startBytes: 2 ** 20 }],
  });
  t.strictSame(it.programs.calls(), [
    'udevadm settle --timeout=20',
    'lsblk --json --bytes --list --output=PATH,KNAME,TYPE,SIZE,LABEL,FSTYPE,PTTYPE,PARTLABEL,PARTTYPE,PARTUUID /dev/vda',
    // Not for the partition: lsblk knows its file system.
    'blkid --probe --output export /dev/vda',
  ]);
  t.same(limits, [30_000, 30_000, 20_000]);
});

t.test('data unknown to lsblk is read from the device', async (t) => {
  const probed = {
    fstype: 'xfs',
    label: 'root',
    pttype: 'gpt',
    partlabel: 'ROOT',
    parttype: '0fc63daf',
    partuuid: '3d4e',
  };
  const told = [
    ...['TYPE=xfs', 'LABEL=root', 'LABEL_FATBOOT=x', 'PTTYPE=gpt', 'PART_ENTRY_NAME=ROOT'],
    ...['PART_ENTRY_TYPE=0fc63daf', 'PART_ENTRY_UUID=3d4e', 'XTYPE=no'],
  ].join('\n');
  const others = {
    label: 'l',
    pttype: 'dos',
    partlabel: 'n',
    parttype: 't',
    partuuid: 'u',
  };
  const { host: it, read } = host(t, [vda, vda1, { ...vda1, ...others }]);
  it.programs.give('blkid', `[ $4 = /dev/vda ] && exit 2; printf '${told}'`);
  t.strictSame(await read(), {
    ...vda,
    children: [
      { ...vda1, ...probed, number: 1, startBytes: 2 ** 20 },
      // The table as last read by the kernel, the file system as it is on the disk now.
      {
        ...vda1,
        ...others,
        ...probed,
        partlabel: 'n',
        parttype: 't',
        partuuid: 'u',
        number: 1,
        startBytes: 2 ** 20,
      },
    ],
  });
  it.programs.give('blkid', '[ $4 = /dev/vda ] && exit 2; echo UUID=1');
  t.match(await read(), {
    children: [
      { fstype: null, label: null },
      { fstype: null, label: 'l', pttype: 'dos' },
    ],
  });
});

t.test('an unreadable disk is not reported as empty', async (t) => {
  const { host: it, read } = host(t);
  for (const [script, found] of [
    ['echo "I/O error" >&2; exit 4', 'blkid: exit code 4, I/O error'],
    ['kill -KILL $$', 'blkid: exit code none, '],
  ] as const) {
    it.programs.give('blkid', script);
    t.match(await thrownBy(read()), {
      kind: 'retry',
      what: '/dev/vda cannot be read',
      details: { found, fix: /cable/ },
    });
  }
  it.programs.give('blkid', '');
  const stop = new AbortController();
  const stopped = readDisk('/dev/vda', it.paths, stop.signal);
  stop.abort();
  await t.rejects(stopped, /stopped/);
});

t.test('waits for a partition that udev has not created yet', async (t) => {
  const { host: it, read } = host(t, [vda, vda1]);
  it.remove('/dev/vda1');
  t.match(await thrownBy(read()), { kind: 'retry', what: /\/dev\/vda1 has no device node yet/ });
  t.notOk(it.programs.calls('blkid').some((call) => call.endsWith('vda1')));
});

t.test('a kpartx partition has a number, and no start from the kernel', async (t) => {
  const { host: it, read } = host(t, [vda, { ...vda1, kname: 'dm-1' }, { ...vda1, kname: 'dm-2' }]);
  it.write('/sys/class/block/dm-1/dev', '253:1\n');
  it.write('/sys/class/block/dm-1/dm/name', 'mpatha7\n');
  it.write('/sys/class/block/dm-1/dm/uuid', 'part7-mpath-3600\n');
  t.strictSame((await read()).children, [
    { ...vda1, kname: 'dm-1', number: 7, startBytes: undefined },
    { ...vda1, kname: 'dm-2' },
  ]);
});

t.test('data missing from lsblk', async (t) => {
  const { host: it, read } = host(t, []);
  t.match(await thrownBy(read()), { kind: 'retry', code: 'disk-not-found', what: /\/dev\/vda$/ });
  for (const column of Object.keys(vda)) {
    it.write('/lsblk.json', JSON.stringify({ blockdevices: [{ ...vda, [column]: undefined }] }));
    await t.rejects(read(), new RegExp(column), `without ${column}`);
  }
});

t.test('a disk is found through its link once udev has created it', async (t) => {
  const { host: it } = host(t);
  const [link, other] = ['/dev/disk/by-id/wwn-1', '/dev/disk/by-id/wwn-2'];
  const at = (path: string) => it.at(path);
  const find = (device: string) => findDisk(device, it.paths, signal);
  t.match(await thrownBy(find(link)), {
    kind: 'fatal',
    code: 'disk-not-found',
    what: `the installation disk ${link} does not exist`,
    details: { found: 'the disks none in /dev/disk/by-id', cause: { code: 'ENOENT' } },
  });
  it.write('/dev/disk/by-id/.keep');
  it.remove('/dev/disk/by-id/.keep');
  t.match(await thrownBy(find(link)), { details: { found: 'the disks none' } });
  symlinkSync('../../vda1', at(other));
  it.programs.give('udevadm', `ln -s ../../vda "$ROOT${link}"`);
  t.match(await find(link), { path: '/dev/vda', node: { name: 'vda', number: '252:0' } });
  it.programs.give('udevadm', '');
  t.match(await thrownBy(find('/dev/vdb')), { details: { found: `the disks ${link}, ${other}` } });
  it.write('/dev/null');
  t.match(await thrownBy(find('/dev/null')), {
    kind: 'fatal',
    code: 'disk-unsuitable',
    what: 'the installation disk /dev/null is not a block device',
    details: { cause: undefined },
  });
});

t.test('partitions are found by the labels of their file systems', async (t) => {
  const labelled = (path: string, label: string) => ({ ...vda1, path, label });
  const disk = { ...vda, children: [labelled('/dev/a', 'boot'), labelled('/dev/b', 'root')] };
  t.match(partition(disk, 'root'), { path: '/dev/b', label: 'root' });
  t.equal(partition(disk, 'data'), undefined);
  t.equal(partition(vda, 'root'), undefined);
});
