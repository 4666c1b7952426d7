import { rmSync } from 'node:fs';
import { kernelTree, type Recorded } from '../../disk/kernel-tree.ts';
import type { TestHost } from './host.ts';

const MIB = 2 ** 20;

/** A partition as described by a test; its files are below `diskFile`. */
export interface FakePartition {
  readonly label?: string;
  readonly partlabel?: string;
  readonly fstype?: string;
  readonly parttype?: string;
  readonly partuuid?: string;
  readonly files?: Readonly<Record<string, string>>;
}

export interface FakeDisk {
  readonly sizeMiB?: number;
  /** A file system on the whole disk. */
  readonly fstype?: string;
  readonly partitions?: readonly FakePartition[];
  /** Lines of mountinfo: which of it is in use. */
  readonly mountinfo?: string;
}

/** The path of a file on a partition of the fake disk, counted from 1. */
export const diskFile = (partition: number, path: string) => `/disk/vda${partition}/${path}`;

/**
 * Gives the host the disk /dev/vda, known to the kernel and lsblk. mount copies a partition's files
 * to the mount point; umount copies written files back to the disk if it was mounted read-write.
 */
export function giveDisk(host: TestHost, disk: FakeDisk = {}): void {
  const { sizeMiB = 32_768, partitions = [], mountinfo = '' } = disk;
  for (const folder of ['/sys', '/proc', '/dev', '/disk']) {
    rmSync(host.at(folder), { recursive: true, force: true });
  }
  const parts = partitions.map((_, index): [string, Recorded] => [
    `vda${index + 1}`,
    { number: `252:${index + 1}`, attributes: { partition: `${index + 1}`, start: '2048' } },
  ]);
  kernelTree(host.root, {
    devices: {
      vda: { number: '252:0', size: sizeMiB * 2048, partitions: Object.fromEntries(parts) },
    },
    mountinfo,
  });
  for (const [index, { files = {} }] of partitions.entries()) {
    host.write(diskFile(index + 1, '.partition'));
    for (const [path, contents] of Object.entries(files)) {
      host.write(diskFile(index + 1, path), contents);
    }
  }
  host.write('/lsblk.json', lsblk(disk, sizeMiB));
  host.programs.give('udevadm', '[ "$1" = settle ]');
  host.programs.give('lsblk', 'cat "$ROOT/lsblk.json"');
  // blkid finds nothing where lsblk reports no file system.
  host.programs.give('blkid', 'exit 2');
  host.programs.give('mount', MOUNT);
  host.programs.give('umount', UMOUNT);
}

function lsblk({ fstype, partitions = [] }: FakeDisk, sizeMiB: number): string {
  const device = (name: string, type: string, size: number, more: FakePartition) => ({
    path: `/dev/${name}`,
    kname: name,
    type,
    size,
    label: more.label ?? null,
    fstype: more.fstype ?? null,
    pttype: partitions.length === 0 ? null : 'gpt',
    partlabel: more.partlabel ?? more.label ?? null,
    parttype: more.parttype ?? null,
    partuuid: more.partuuid ?? null,
  });
  const whole = device('vda', 'disk', sizeMiB * MIB, fstype === undefined ? {} : { fstype });
  const parts = partitions.map((part, index) =>
    device(`vda${index + 1}`, 'part', 512 * MIB, { fstype: 'ext4', ...part }),
  );
  return JSON.stringify({ blockdevices: [whole, ...parts] });
}

/** mount -o OPTIONS DEVICE FOLDER */
const MOUNT = `
from="$ROOT/disk/\${3##*/}"
[ -d "$from" ] || { echo "no such device" >&2; exit 32; }
cp -a "$from/." "$4" && printf '%s %s' "$3" "$2" > "$ROOT/disk/\${4##*/}.mounted"`;

/** umount FOLDER: fails the test if something was written to a read-only mount. */
const UMOUNT = `
mounted="$ROOT/disk/\${1##*/}.mounted"
read -r device options < "$mounted"
to="$ROOT/disk/\${device##*/}"
case "$options" in
  rw,*) rm -rf "$to"; cp -a "$1" "$to" ;;
  *) diff -r "$to" "$1" > /dev/null || { echo "written to a read-only mount" >&2; exit 98; } ;;
esac
find "$1" -mindepth 1 -delete
rm "$mounted"`;
