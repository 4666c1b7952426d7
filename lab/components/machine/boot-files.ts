import type { BootConfiguration } from '../coreos-layout.ts';
import { LABEL } from '../live-iso.ts';

/** In common to both systems: Debian's kernel prefers AppArmor; the lab reads the serial console. */
const COMMON = 'security=selinux console=tty0 console=ttyS0,115200n8';

/** Of the live system, as in coreos/kargs.json. */
export const LIVE_ARGUMENTS = `coreos.liveiso=${LABEL} ignition.firstboot ignition.platform.id=metal ${COMMON}`;

/** Of the installed system. GRUB adds ignition.firstboot for as long as the flag is in /boot, and ostree itself. */
export const INSTALLED_ARGUMENTS = `root=LABEL=root rw $ignition_firstboot ignition.platform.id=metal ${COMMON}`;

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

/** The name of the operating system to ostree. */
export const STATEROOT = 'lab';

/** The files of the boot partition beside those of ostree, by path: GRUB's configuration, and what coreos-installer edits. */
export const bootPartitionFiles: ReadonlyMap<string, string> = new Map([
  // coreos-installer appends a variable of GRUB with network arguments.
  ['ignition.firstboot', ''],
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

# Debian's GRUB has no blscfg, but an entry's lines are commands with these. The one with the highest version is taken.
# Its "linux" and "initrd" fail, without a root, since the arguments are known before them; their files are those of
# the deployment that the arguments name.
set boot=$root
unset root
set newest=0
function title { true; }
function version { set version="$1"; }
function options {
  if [ "$version" -gt "$newest" ]; then
    set newest="$version"
    set arguments="$*"
  fi
}
for entry in ($boot)/loader/entries/*.conf; do
  source "$entry"
done
set root=$boot
regexp --set=1:files 'ostree=/ostree/boot\\.[01]/${STATEROOT}/([0-9a-f]+)/' "$arguments"
for kernel in ($root)/ostree/${STATEROOT}-$files/vmlinuz-*; do
  linux "$kernel" $arguments
done
for initramfs in ($root)/ostree/${STATEROOT}-$files/initramfs-*; do
  initrd "$initramfs"
done
boot
`,
  ],
]);

/** What GRUB for BIOS has built in. */
export const biosModules = [
  ...['biosdisk', 'part_gpt', 'ext2', 'search', 'search_label', 'linux', 'normal', 'boot'],
  ...['configfile', 'regexp', 'test', 'true', 'echo', 'serial', 'terminal'],
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
