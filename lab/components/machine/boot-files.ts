import type { BootConfiguration } from '../coreos-layout.ts';
import { LABEL } from '../live-iso.ts';

/** In common to both systems: Debian's kernel prefers AppArmor; the lab reads the serial console. */
const COMMON = 'security=selinux console=tty0 console=ttyS0,115200n8';

/** Of the live system, as in coreos/kargs.json. */
export const LIVE_ARGUMENTS = `coreos.liveiso=${LABEL} ignition.firstboot ignition.platform.id=metal ${COMMON}`;

/** Of the installed system. GRUB adds ignition.firstboot for as long as the flag is in /boot. */
const INSTALLED_ARGUMENTS = `root=LABEL=root rw $ignition_firstboot ignition.platform.id=metal ${COMMON}`;

const KERNEL = '/images/pxeboot/vmlinuz';
const INITRAMFS = '/images/pxeboot/initrd.img';
const CONFIG = '/images/ignition.img';

/** The folder that Debian's signed GRUB reads, on the medium that it was started from. */
export const EFI_VENDOR = 'EFI/debian';

/** Boot loaders of the live ISO, with room for kernel arguments. */
export const liveBootLoaders: readonly BootConfiguration[] = [
  {
    path: `${EFI_VENDOR}/grub.cfg`,
    before: `set timeout=1
menuentry 'Debian GNU/Linux 12 (lab, live)' {
  linux ${KERNEL} `,
    after: `  initrd ${INITRAMFS} ${CONFIG}
}
`,
  },
  {
    path: 'isolinux/isolinux.cfg',
    before: `serial 0 115200
default linux
prompt 0
timeout 10
label linux
  kernel ${KERNEL}
  append initrd=${INITRAMFS},${CONFIG} `,
    after: '',
  },
];

/** GRUB's configuration on a file system for firmware: it continues on the labelled one. */
export const continueAt = (
  label: string,
  configuration: string,
) => `search --no-floppy --label ${label} --set root
configfile ${configuration}
`;

const ENTRY = 'loader/entries/lab.conf';

/** The files of the boot partition, by path: GRUB's configuration, and what coreos-installer edits. */
export const bootPartitionFiles: ReadonlyMap<string, string> = new Map([
  // coreos-installer appends a variable of GRUB with network arguments.
  ['ignition.firstboot', ''],
  [
    ENTRY,
    // GRUB runs this file, below: the arguments load the kernel, the initramfs follows.
    `title Debian GNU/Linux 12 (lab)
version 1
linux /vmlinuz
options ${INSTALLED_ARGUMENTS}
initrd /initramfs.img
`,
  ],
  [
    'grub2/grub.cfg',
    // The block of console settings is coreos-installer's (--console).
    `set timeout=1

# CONSOLE-SETTINGS-START
# CONSOLE-SETTINGS-END
if [ "$grub_platform" = pc ]; then
  serial --unit=0 --speed=115200
  terminal_output console serial
fi
if [ -f /ignition.firstboot ]; then
  set ignition_network_kcmdline=
  source /ignition.firstboot
  set ignition_firstboot="ignition.firstboot $ignition_network_kcmdline"
fi

# Debian's GRUB has no blscfg, but an entry's lines are commands with these. Its "linux" fails,
# without a root: a kernel that is loaded a second time would lose its arguments.
set boot=$root
unset root
function title { echo "$@"; }
function version { true; }
function options { set root=$boot; linux /vmlinuz "$@"; }
source ($boot)/${ENTRY}
boot
`,
  ],
]);

/** What GRUB for BIOS has built in. */
export const biosModules = [
  ...['biosdisk', 'part_gpt', 'ext2', 'search', 'search_label', 'linux', 'normal', 'boot'],
  ...['configfile', 'test', 'true', 'echo', 'serial', 'terminal'],
];

/** The configuration in GRUB's image for BIOS. */
export const biosStart = `search --no-floppy --label boot --set root
set prefix=($root)/grub2
`;

const SECTOR_BYTES = 512;
/** Of the boot code in a master boot record; the partition table follows. */
const BOOT_CODE_BYTES = 440;
/** Where boot.img has the sector of the core image (GRUB's offsets.h: GRUB_BOOT_MACHINE_KERNEL_SECTOR). */
const CORE_SECTOR_AT = 0x5c;
/** Where the core image's first sector has the sector of its rest: the last block list. */
const REST_SECTOR_AT = SECTOR_BYTES - 12;

/** What grub-bios-setup would write to a disk. */
export interface BiosBootCode {
  /** For the beginning of the disk: boot code without the partition table. */
  readonly bootCode: Buffer;
  /** For the BIOS boot partition. */
  readonly core: Buffer;
}

/** Points GRUB's boot sector at the core image, which is at the beginning of a partition. */
export function biosBootCode(
  bootImage: Buffer,
  coreImage: Buffer,
  partitionStartByte: number,
): BiosBootCode {
  const sector = BigInt(partitionStartByte / SECTOR_BYTES);
  const bootCode = Buffer.from(bootImage.subarray(0, BOOT_CODE_BYTES));
  bootCode.writeBigUInt64LE(sector, CORE_SECTOR_AT);
  const core = Buffer.from(coreImage);
  core.writeBigUInt64LE(sector + 1n, REST_SECTOR_AT);
  return { bootCode, core };
}
