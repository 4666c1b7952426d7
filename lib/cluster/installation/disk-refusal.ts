import { Failure } from '../../base/errors/failure.ts';
import type { BlockNode } from '../../host/block-device.ts';
import type { DeviceUse, DiskUse, HolderKind } from '../../host/disk-use.ts';

const ANOTHER = 'Set a complete disk that is not in use in bootstrapInPlace.installationDisk.';
const AGAIN = 'Then start bootkube.service again.';

/**
 * Mount points of a live host's own system: the ISO, its root, and what an
 * initramfs left of both.
 */
const LIVE_SYSTEM =
  /^(\/|\/run\/media\/iso|\/sysroot|\/run\/initramfs(\/.*)?|\/boot(\/efi)?|\/usr)$/;

/** Block devices to the kernel that are not disks to firmware. */
const NO_DISK: readonly [RegExp, string][] = [
  [/^sr\d|^scd\d/, 'an optical drive'],
  [/^fd\d/, 'a floppy drive'],
  [/^zram\d/, 'compressed memory'],
  [/^ram\d/, 'a RAM disk'],
  [/^mtdblock\d/, 'a flash chip'],
  [/^mmcblk\d+(boot\d+|rpmb|gp\d+)$/, 'a hardware partition of a memory card'],
];

const HOLDERS: Readonly<Record<HolderKind, { is: string; end: (name: string) => string }>> = {
  lvm: {
    is: 'a physical volume under the logical volume',
    end: (name) => `Deactivate it with "vgchange --activate n ${volumeGroup(name)}".`,
  },
  crypt: {
    is: 'encrypted and opened as',
    end: (name) => `Close it with "cryptsetup close ${name}".`,
  },
  multipath: {
    is: 'one of the paths of the multipath device',
    end: (name) => `Use /dev/mapper/${name} as the disk.`,
  },
  array: {
    is: 'a member of the RAID array',
    end: (name) => `Stop it with "mdadm --stop /dev/${name}".`,
  },
  bcache: {
    is: 'part of the cache',
    end: (name) => `Stop it with "echo 1 > /sys/block/${name}/bcache/stop".`,
  },
  other: { is: 'held by', end: (name) => `Remove ${name}.` },
};

/**
 * Why a disk must not be written, whatever its contents: it is not a disk, or it is
 * in use. Undefined if neither applies. No setting overrides this, since writing to
 * a disk in use destroys data.
 */
export function refuseDisk(device: string, use: DiskUse): Failure | undefined {
  return refuseAmbiguous(device, use) ?? refuseKind(device, use) ?? refuseInUse(device, use);
}

function refuseAmbiguous(device: string, { rivals, path }: DiskUse): Failure | undefined {
  if (rivals.length === 0) return undefined;
  return new Failure('fatal', `${device} matches several disks`, {
    code: 'disk-unsuitable',
    expected: 'one disk',
    found: [path, ...rivals].join(', '),
    fix: 'Set up multipath if they are paths to one disk, or use one of them by its link in /dev/disk/by-path.',
  });
}

function refuseKind(device: string, { node, disk, inContainer }: DiskUse): Failure | undefined {
  const refuse = (found: string, fix = ANOTHER) =>
    new Failure('fatal', `${device} is not a disk to install on`, {
      code: 'disk-unsuitable',
      expected: 'a complete disk',
      found,
      fix,
    });
  if (disk !== undefined) {
    return refuse(
      `partition ${node.partition?.number} of ${disk}`,
      `Set ${disk} in bootstrapInPlace.installationDisk, preferably by its link in /dev/disk/by-id.`,
    );
  }
  const kind = noDisk(node, inContainer);
  if (kind !== undefined) return refuse(kind);
  if (node.bytes === 0) return refuse('a drive without a medium');
  if (node.readOnly) {
    return refuse('a read-only disk', 'Remove its write protection, or use another disk.');
  }
  return undefined;
}

function noDisk({ name, mapper, array }: BlockNode, inContainer: boolean): string | undefined {
  if (name.startsWith('loop')) return inContainer ? undefined : 'a loop device';
  if (array !== undefined) {
    // Only firmware RAID arrays are bootable; the firmware manages their metadata.
    return array.metadata.startsWith('external:')
      ? undefined
      : `the software RAID array ${name} (${array.level})`;
  }
  if (mapper !== undefined) {
    return mapper.uuid.startsWith('mpath-')
      ? undefined
      : `the device-mapper device ${mapper.name} (${mapper.uuid.split('-')[0] || 'no uuid'})`;
  }
  return NO_DISK.find(([pattern]) => pattern.test(name))?.[1];
}

function refuseInUse(device: string, { uses, isClaimed }: DiskUse): Failure | undefined {
  if (isClaimed) {
    return new Failure('retry', `${device} is in use`, {
      code: 'disk-in-use',
      found: 'exclusive open failed (EBUSY); no mount, swap or holder explains it',
      fix: 'Look for a program that has it open ("fuser -v" with its name), or use another disk.',
    });
  }
  if (uses.length === 0) return undefined;
  const found = uses.map(describe).join('; ');
  if (mountPointsOf(uses).some((at) => LIVE_SYSTEM.test(at))) {
    return new Failure('fatal', `${device} is what this live host runs from`, {
      code: 'disk-in-use',
      found,
      fix: ANOTHER,
    });
  }
  return new Failure('fatal', `${device} is in use`, {
    code: 'disk-in-use',
    found,
    fix: [...new Set(fixesOf(uses)), AGAIN].join(' '),
  });
}

function describe(use: DeviceUse): string {
  switch (use.by) {
    case 'mount':
      return `${use.device} is mounted on ${use.at}`;
    case 'swap':
      return `${use.device} is used as swap`;
    case 'loop':
      return `${use.device} is used by the loop device ${use.name}`;
    case 'holder': {
      const below = use.uses.map(describe).join(', ');
      return `${use.device} is ${HOLDERS[use.kind].is} ${holderName(use)}${below === '' ? '' : ` (${below})`}`;
    }
  }
}

/** What to do, the deepest use first: a volume is unmounted before its group is removed. */
function fixesOf(uses: readonly DeviceUse[]): string[] {
  if (uses.length === 0) return [];
  const below = uses.flatMap((use) => (use.by === 'holder' ? use.uses : []));
  return [...fixesOf(below), ...uses.map(fixOf)];
}

function fixOf(use: DeviceUse): string {
  switch (use.by) {
    case 'mount':
      return `Unmount it with "umount ${use.at}".`;
    case 'swap':
      return `Disable it with "swapoff ${use.device}".`;
    case 'loop':
      return `Detach it with "losetup --detach /dev/${use.name}".`;
    case 'holder':
      return HOLDERS[use.kind].end(use.name);
  }
}

function holderName({ kind, name }: Extract<DeviceUse, { by: 'holder' }>): string {
  if (kind !== 'lvm') return name;
  const group = volumeGroup(name);
  const ceph = /^ceph-/.test(group) ? ', a Ceph OSD' : '';
  return `${name} of the volume group ${group}${ceph}`;
}

/** The device mapper joins group and volume with a dash, and doubles the dashes in both. */
function volumeGroup(name: string): string {
  const [, group = name] = /^((?:[^-]|--)+)-(?!-)/.exec(name) ?? [];
  return group.replaceAll('--', '-');
}

const mountPointsOf = (uses: readonly DeviceUse[]): string[] =>
  uses.flatMap((use) => {
    if (use.by === 'mount') return [use.at];
    return use.by === 'holder' ? mountPointsOf(use.uses) : [];
  });
