import type { Problem } from '../../base/errors/problem.ts';

/** Names that the kernel and udev give to partitions and file systems, not to disks. */
const PARTITION = [
  /^\/dev\/(sd|hd|vd|xvd|dasd)[a-z]+\d+$/,
  /^\/dev\/(nvme\d+n\d+|mmcblk\d+|loop\d+|nbd\d+|md\d+|pmem\d+|cciss\/c\d+d\d+)p\d+$/,
  /-part\d+$/,
  /\/dm-uuid-part\d+-/,
  /^\/dev\/disk\/by-(part)?(uuid|label)\//,
];

/**
 * Names of devices on which no system can be installed (Linux,
 * admin-guide/devices.txt), and of udev's folders.
 */
const NO_DISK = [
  /^\/dev\/(null|zero|full|u?random|k?mem|port|kmsg|console|ptmx|tty.*|vcs.*|log|core|initctl)$/,
  /^\/dev\/(std(in|out|err)|fuse|kvm|hpet|nvram|rtc.*|watchdog.*|uinput|uhid|rfkill|cpu_dma_latency)$/,
  /^\/dev\/(loop-control|btrfs-control|mapper\/control|ram\d+|zram\d+|fd\d+|sg\d+|sr\d+|cdrom|dvd)$/,
  /^\/dev\/(nvme\d+|ng\d+n\d+|mmcblk\d+(boot\d+|rpmb)|i2c-\d+|gpiochip\d+|tpm.*|mei\d+|ipmi\d+)$/,
  /^\/dev\/(fd|pts|shm|mqueue|hugepages|input|snd|dri|net|bus|char|bsg|cpu|vfio|vhost-.*|usb)(\/.*)?$/,
  /^\/dev\/(disk(\/by-[a-z-]+)?|mapper|block)$/,
];

/** Below /dev, in udev's character set; the JSON Schema uses this regular expression too. */
export const DISK_PATH = /^\/dev(\/[A-Za-z0-9#+.:=@_,-]+)+$/;

/** Why a string is not the path of a whole disk below /dev. */
export function diskPathProblem(text: string): Problem | undefined {
  const fix = 'Use a path that does not change, such as /dev/disk/by-id/wwn-0x5000c500a1b2c3d4.';
  if (!DISK_PATH.test(text) || /\/\.{1,2}(\/|$)/.test(text)) {
    return { expected: 'the path of a disk below /dev', fix };
  }
  if (PARTITION.some((name) => name.test(text))) {
    return { expected: 'a complete disk, not a partition or file system', fix };
  }
  if (NO_DISK.some((name) => name.test(text))) {
    return { expected: 'a disk that a system can be installed to', fix };
  }
  return undefined;
}
