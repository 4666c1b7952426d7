import type { Recorded, RecordedHost } from './kernel-tree.ts';

const part = (number: string, partition: number, more: Partial<Recorded> = {}): Recorded => ({
  number,
  ...more,
  attributes: { partition: `${partition}`, start: `${2048 * partition}`, ...more.attributes },
});
const mapper = (number: string, name: string, uuid: string, more: Partial<Recorded> = {}) => ({
  number,
  ...more,
  attributes: { 'dm/name': name, 'dm/uuid': uuid },
});
const array = (metadata: string, level: string): Partial<Recorded> => ({
  attributes: { 'md/metadata_version': metadata, 'md/level': level },
});
const VG = 'LVM-Vf3wMnMTMuyFQXSSbUzfFxlNOR2ZnUSdGGpBKNNm8T1zIU6g1Dv0q7jHrS5p0aBc';

export interface RefusalCase {
  readonly host: RecordedHost;
  /** The name given by the user, and its target. Default: /dev/sda for both. */
  readonly device?: string;
  readonly path?: string;
  /** Patterns in the refusal; absent: the disk may be written. */
  readonly says?: readonly RegExp[];
}

/** Hosts as shown by Linux and udev in sysfs, mountinfo, swaps and the database of links. */
export const refusals: Readonly<Record<string, RefusalCase>> = {
  'a free disk with partitions': {
    host: { devices: { sda: { number: '8:0', partitions: { sda1: part('8:1', 1) } } } },
  },
  'a partition': {
    host: { devices: { sda: { number: '8:0', partitions: { sda3: part('8:3', 3) } } } },
    device: '/dev/disk/by-id/ata-X-part3',
    path: '/dev/sda3',
    says: [/ata-X-part3 is not a disk.*found partition 3 of \/dev\/sda\. Set \/dev\/sda in /],
  },
  'a partition of an NVMe disk': {
    host: {
      devices: { nvme0n1: { number: '259:0', partitions: { nvme0n1p2: part('259:2', 2) } } },
    },
    path: '/dev/nvme0n1p2',
    says: [/partition 2 of \/dev\/nvme0n1\./],
  },
  'an optical drive': {
    host: { devices: { sr0: { number: '11:0', attributes: { ro: '1' } } } },
    path: '/dev/sr0',
    says: [/found an optical drive/],
  },
  'a floppy drive': {
    host: { devices: { fd0: { number: '2:0' } } },
    path: '/dev/fd0',
    says: [/found a floppy drive/],
  },
  'a RAM disk': {
    host: { devices: { ram0: { number: '1:0' } } },
    path: '/dev/ram0',
    says: [/found a RAM disk/],
  },
  'a flash chip': {
    host: { devices: { mtdblock0: { number: '31:0' } } },
    path: '/dev/mtdblock0',
    says: [/found a flash chip/],
  },
  'a SCSI optical drive': {
    host: { devices: { scd0: { number: '11:0' } } },
    path: '/dev/scd0',
    says: [/found an optical drive/],
  },
  'the protected memory of a card': {
    host: { devices: { mmcblk0rpmb: { number: '179:48' } } },
    path: '/dev/mmcblk0rpmb',
    says: [/hardware partition of a memory card/],
  },
  'compressed memory': {
    host: { devices: { zram0: { number: '252:0' } } },
    path: '/dev/zram0',
    says: [/found compressed memory/],
  },
  'a boot partition of an eMMC': {
    host: { devices: { mmcblk0: { number: '179:0' }, mmcblk0boot0: { number: '179:32' } } },
    path: '/dev/mmcblk0boot0',
    says: [/hardware partition of a memory card/],
  },
  'an eMMC itself': {
    host: {
      devices: { mmcblk0: { number: '179:0', partitions: { mmcblk0p1: part('179:1', 1) } } },
    },
    path: '/dev/mmcblk0',
  },
  'a loop device on a machine': {
    host: { devices: { loop3: { number: '7:3' } } },
    path: '/dev/loop3',
    says: [/found a loop device/],
  },
  'a loop device in a container, which has no other disks': {
    host: {
      devices: { loop3: { number: '7:3', attributes: { 'loop/backing_file': '/disk.raw' } } },
      inContainer: true,
    },
    path: '/dev/loop3',
  },
  'a card reader without a card': {
    host: { devices: { sda: { number: '8:0', size: 0 } } },
    says: [/a drive without a medium/],
  },
  'a disk that is write-protected': {
    host: { devices: { sda: { number: '8:0', attributes: { ro: '1' } } } },
    says: [/a read-only disk\. Remove its write protection/],
  },
  'a logical volume': {
    host: { devices: { 'dm-0': mapper('253:0', 'rhel-root', VG) } },
    path: '/dev/dm-0',
    says: [/device-mapper device rhel-root \(LVM\)/],
  },
  'a software array': {
    host: { devices: { md127: { number: '9:127', ...array('1.2', 'raid1') } } },
    path: '/dev/md127',
    says: [/the software RAID array md127 \(raid1\)/],
  },
  "a firmware's array": {
    host: {
      devices: {
        md126: { number: '9:126', slaves: ['sda', 'sdb'], ...array('external:/md127/0', 'raid1') },
      },
    },
    path: '/dev/md126',
  },
  'a mounted partition': {
    host: {
      devices: { sda: { number: '8:0', partitions: { sda1: part('8:1', 1) } } },
      mountinfo:
        '36 25 8:1 / /mnt/old\\040data rw,relatime shared:1 - ext4 /dev/sda1 rw\n' +
        '37 25 8:1 /lib /var/lib rw,relatime - ext4 /dev/sda1 rw\n',
    },
    says: [
      /\/dev\/sda is in use; found \/dev\/sda1 is mounted on \/mnt\/old data\. Unmount it with "umount \/mnt\/old data"\. Then start bootkube\.service again\./,
    ],
  },
  'a btrfs, whose number is not the device': {
    host: {
      devices: { sda: { number: '8:0', partitions: { sda2: part('8:2', 2) } } },
      mountinfo: '40 25 0:35 /root /mnt rw - btrfs /dev/sda2 rw,subvol=/root\n',
    },
    says: [/\/dev\/sda2 is mounted on \/mnt/],
  },
  'a live medium': {
    host: {
      devices: { sda: { number: '8:0', partitions: { sda1: part('8:1', 1) } } },
      mountinfo: '50 25 8:0 / /run/media/iso ro,relatime shared:9 - iso9660 /dev/sda ro\n',
    },
    says: [/is what this live host runs from; found \/dev\/sda is mounted on \/run\/media\/iso/],
  },
  "the root's disk below a volume": {
    host: {
      devices: {
        sda: { number: '8:0', partitions: { sda3: part('8:3', 3, { holders: ['dm-0'] }) } },
        'dm-0': mapper('253:0', 'my--vg-lv--root', VG, { slaves: ['sda3'] }),
      },
      mountinfo: '27 1 253:0 / / rw,relatime shared:1 - xfs /dev/mapper/my--vg-lv--root rw\n',
    },
    says: [
      /is what this live host runs from/,
      /\/dev\/sda3 is a physical volume under the logical volume my--vg-lv--root of the volume group my-vg \(\/dev\/mapper\/my--vg-lv--root is mounted on \/\)/,
    ],
  },
  swap: {
    host: {
      devices: { sda: { number: '8:0', partitions: { sda2: part('8:2', 2) } } },
      swaps: '/dev/sda2                               partition\t2097148\t\t0\t\t-2\n',
    },
    says: [/\/dev\/sda2 is used as swap\. Disable it with "swapoff \/dev\/sda2"/],
  },
  'volumes of a group, one of them mounted': {
    host: {
      devices: {
        sda: { number: '8:0', partitions: { sda3: part('8:3', 3, { holders: ['dm-0', 'dm-1'] }) } },
        'dm-0': mapper('253:0', 'rhel-data', VG, { slaves: ['sda3'] }),
        'dm-1': mapper('253:1', 'rhel-swap', `${VG}x`, { slaves: ['sda3'] }),
      },
      mountinfo: '36 25 253:0 / /data rw - xfs /dev/mapper/rhel-data rw\n',
      swaps: '/dev/dm-1 partition 2097148 0 -2\n',
    },
    says: [
      /rhel-data of the volume group rhel \(\/dev\/mapper\/rhel-data is mounted on \/data\)/,
      /rhel-swap is used as swap/,
      /umount \/data".*vgchange --activate n rhel"/,
    ],
  },
  'a Ceph OSD on a whole disk': {
    host: {
      devices: {
        sda: { number: '8:0', holders: ['dm-3'] },
        'dm-3': mapper('253:3', 'ceph--f2b1c0de--osd-osd--block--1c7a', VG.replace('Vf3', 'Qx7')),
      },
    },
    says: [
      /volume group ceph-f2b1c0de-osd, a Ceph OSD/,
      /vgchange --activate n ceph-f2b1c0de-osd"/,
    ],
  },
  'a member of an array': {
    host: {
      devices: {
        sda: { number: '8:0', partitions: { sda1: part('8:1', 1, { holders: ['md127'] }) } },
        md127: { number: '9:127', slaves: ['sda1', 'sdb1'], ...array('1.2', 'raid1') },
      },
    },
    says: [
      /\/dev\/sda1 is a member of the RAID array md127\. Stop it with "mdadm --stop \/dev\/md127"/,
    ],
  },
  'a volume on an encrypted partition': {
    host: {
      devices: {
        sda: { number: '8:0', partitions: { sda4: part('8:4', 4, { holders: ['dm-0'] }) } },
        'dm-0': mapper('253:0', 'luks-data', 'CRYPT-LUKS2-0b1d2c-luks-data', { holders: ['dm-1'] }),
        'dm-1': mapper('253:1', 'vg0-lv0', VG),
      },
    },
    says: [
      /\/dev\/sda4 is encrypted and opened as luks-data \(\/dev\/mapper\/luks-data is a physical volume/,
      /vgchange --activate n vg0"\. Close it with "cryptsetup close luks-data"/,
    ],
  },
  'uses at several depths, of which the deepest ends first': {
    host: {
      devices: {
        sda: {
          number: '8:0',
          partitions: {
            sda1: part('8:1', 1),
            sda2: part('8:2', 2),
            sda4: part('8:4', 4, { holders: ['dm-0'] }),
          },
        },
        'dm-0': mapper('253:0', 'luks-data', 'CRYPT-LUKS2-0b1d2c-luks-data', {
          holders: ['dm-1', 'dm-2'],
        }),
        'dm-1': mapper('253:1', 'vg0-lv0', VG),
        'dm-2': mapper('253:2', 'vg0-lv1', `${VG}x`),
      },
      mountinfo:
        '36 25 8:1 / /mnt rw - ext4 /dev/sda1 rw\n' +
        '37 25 253:1 / /data rw - xfs /dev/mapper/vg0-lv0 rw\n',
      swaps: '/dev/sda2 partition 2097148 0 -2\n/dev/dm-2 partition 2097148 0 -3\n',
    },
    says: [
      /umount \/data".*vgchange --activate n vg0".*umount \/mnt"/,
      /swapoff \/dev\/(mapper\/vg0-lv1|dm-2)".*vgchange --activate n vg0".*swapoff \/dev\/sda2"/,
      /vgchange --activate n vg0".*cryptsetup close luks-data"\. Then/,
    ],
  },
  'a loop device on an encrypted partition, and a mount': {
    host: {
      devices: {
        sda: {
          number: '8:0',
          partitions: { sda1: part('8:1', 1), sda2: part('8:2', 2, { holders: ['dm-0'] }) },
        },
        'dm-0': mapper('253:0', 'luks-data', 'CRYPT-LUKS2-0b1d2c-luks-data'),
        loop4: { number: '7:4', attributes: { 'loop/backing_file': '/dev/mapper/luks-data' } },
      },
      mountinfo: '36 25 8:1 / /mnt rw - ext4 /dev/sda1 rw\n',
    },
    says: [
      /luks-data \(\/dev\/mapper\/luks-data is used by the loop device loop4\)/,
      /losetup --detach \/dev\/loop4".*umount \/mnt".*cryptsetup close luks-data"\. Then/,
    ],
  },
  'a path of a multipath device': {
    host: {
      devices: {
        sda: { number: '8:0', holders: ['dm-0'] },
        sdb: { number: '8:16', holders: ['dm-0'] },
        'dm-0': mapper('253:0', 'mpatha', 'mpath-360000000000000000e00000000010001'),
      },
    },
    says: [
      /one of the paths of the multipath device mpatha\. Use \/dev\/mapper\/mpatha as the disk/,
    ],
  },
  'a multipath device with partitions': {
    host: {
      devices: {
        sda: { number: '8:0', holders: ['dm-0'] },
        'dm-0': mapper('253:0', 'mpatha', 'mpath-3600', { holders: ['dm-1'], slaves: ['sda'] }),
        'dm-1': mapper('253:1', 'mpatha1', 'part1-mpath-3600', { slaves: ['dm-0'] }),
      },
      links: { 'disk/by-id/wwn-0x600': ['8:0', '253:0'] },
    },
    device: '/dev/disk/by-id/wwn-0x600',
    path: '/dev/dm-0',
  },
  'a multipath device with a mounted partition': {
    host: {
      devices: {
        'dm-0': mapper('253:0', 'mpatha', 'mpath-3600', { holders: ['dm-1'] }),
        'dm-1': mapper('253:1', 'mpatha1', 'part1-mpath-3600'),
      },
      mountinfo: '36 25 253:1 / /mnt rw - xfs /dev/mapper/mpatha1 rw\n',
    },
    path: '/dev/dm-0',
    says: [/\/dev\/mapper\/mpatha1 is mounted on \/mnt/],
  },
  'a disk below a cache': {
    host: {
      devices: { sda: { number: '8:0', holders: ['bcache0'] }, bcache0: { number: '251:0' } },
    },
    says: [/part of the cache bcache0.*echo 1 > \/sys\/block\/bcache0\/bcache\/stop/],
  },
  'a holder of a kind that nobody told of': {
    host: { devices: { sda: { number: '8:0', holders: ['drbd1'] }, drbd1: { number: '147:1' } } },
    says: [/\/dev\/sda is held by drbd1/],
  },
  'a disk behind a loop device': {
    host: {
      devices: {
        sda: { number: '8:0' },
        loop0: { number: '7:0', attributes: { 'loop/backing_file': '/dev/sda' } },
      },
    },
    says: [/\/dev\/sda is used by the loop device loop0/],
  },
  'a disk whose holder goes while it is looked at': {
    host: { devices: { sda: { number: '8:0', holders: ['dm-9'] } } },
  },
  'two disks of one name': {
    host: {
      devices: { sda: { number: '8:0' }, sdb: { number: '8:16' } },
      links: { 'disk/by-id/wwn-0x5000': ['8:0', '8:16'] },
    },
    device: '/dev/disk/by-id/wwn-0x5000',
    says: [/wwn-0x5000 matches several disks; expected one disk; found \/dev\/sda, \/dev\/sdb\./],
  },
  'one disk of that name': {
    host: {
      devices: { sda: { number: '8:0' }, sdb: { number: '8:16' } },
      links: { 'disk/by-id/wwn-0x5000': ['8:0'], 'disk/by-id/wwn-0x5001': ['8:16'] },
    },
    device: '/dev/disk/by-id/wwn-0x5000',
  },
};
