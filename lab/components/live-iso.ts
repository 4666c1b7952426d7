import { copyFile, link, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { execa } from 'execa';
import type { Component } from './component.ts';
import { coreosLayout, EMBED_AREA_BYTES } from './coreos-layout.ts';
import { OS_IMAGE, osImage } from './os-image.ts';

const layoutRecipe = join(import.meta.dirname, 'coreos-layout.ts');

export const LIVE_ISO = 'sno-lab-live.iso';
export const LABEL = 'sno-lab-live';
/** Of Debian's package isolinux. */
export const ISOLINUX = '/usr/lib/ISOLINUX';

const KERNEL_ARGUMENTS = `coreos.liveiso=${LABEL} ignition.firstboot ignition.platform.id=metal`;
/** The least that a partition of a stick may have; there is no boot loader in it. */
const ESP_BYTES = 1024 * 1024;

const bootLoaders = [
  { path: 'EFI/fedora/grub.cfg', before: 'linux /images/pxeboot/vmlinuz ', after: '' },
  {
    path: 'isolinux/isolinux.cfg',
    before: 'append initrd=/images/pxeboot/initrd.img,/images/ignition.img ',
    after: '',
  },
];

/**
 * A live ISO in the format of CoreOS's, as coreos-installer 0.27 reads it
 * (src/live/embed.rs) and osbuild's stage org.osbuild.coreos.live-artifacts.mono makes
 * it: hybrid for BIOS and UEFI, with room for an Ignition config and for kernel
 * arguments. Kernel, initramfs and EFI loader are stand-ins, since nothing here boots
 * firmware; the operating system's image lies where the lab's hosts look for it.
 */
export const liveIso: Component = liveIsoOf('live-iso', osImage);

/** Such an ISO with another image to install, made by imageOf. */
export function liveIsoOf(name: string, image: Component): Component {
  return {
    name,
    version: 'bookworm',
    recipe: [import.meta.filename, layoutRecipe],
    needs: [image],
    build: async (target, { signal, report, folderOf }) => {
      report('make the ISO');
      await makeLiveIso(join(target, LIVE_ISO), join(folderOf(image), OS_IMAGE), signal);
    },
  };
}

/**
 * Writes such an ISO; `image` is the operating system's, on the same file system. Without
 * `bios` it is one of CoreOS for Arm: for UEFI, and without a partition table.
 */
export async function makeLiveIso(
  iso: string,
  image: string,
  signal: AbortSignal,
  { bios = true } = {},
): Promise<void> {
  const tree = await mkdtemp(join(dirname(iso), '.tree-'));
  await makeTree(tree);
  await link(image, join(tree, 'images', basename(image)));
  await makeIso(iso, tree, { bios, signal });
  await rm(tree, { recursive: true });
}

/** Writes an ISO with the contents of a folder that has the boot loaders of CoreOS's live ISO. */
export async function makeIso(
  iso: string,
  tree: string,
  { bios = true, signal }: { bios?: boolean; signal: AbortSignal },
): Promise<void> {
  const boot = [...(bios ? biosBoot : []), ...uefiBoot, ...(bios ? hybridBoot : [])];
  await execa('xorriso', [...format, '-o', iso, ...boot, tree], {
    env: { SOURCE_DATE_EPOCH: '315532800' },
    cancelSignal: signal,
    timeout: 5 * 60_000,
  });
}

const format = [
  ...['-as', 'mkisofs', '-quiet', '-V', LABEL, '-volset', LABEL],
  ...['-R', '-J', '-joliet-long', '-iso-level', '1'],
];
const biosBoot = [
  ...['-eltorito-boot', 'isolinux/isolinux.bin', '-eltorito-catalog', 'isolinux/boot.cat'],
  ...['-no-emul-boot', '-boot-load-size', '4', '-boot-info-table', '-eltorito-alt-boot'],
];
const uefiBoot = ['-e', 'images/efiboot.img', '-no-emul-boot'];
const hybridBoot = ['-isohybrid-mbr', join(ISOLINUX, 'isohdpfx.bin'), '-isohybrid-gpt-basdat'];

async function makeTree(tree: string): Promise<void> {
  for (const folder of ['coreos', 'images/pxeboot', 'isolinux', 'EFI/fedora']) {
    await mkdir(join(tree, folder), { recursive: true });
  }
  const write = (path: string, contents: string | Uint8Array) =>
    writeFile(join(tree, path), contents);
  await write('images/ignition.img', new Uint8Array(EMBED_AREA_BYTES));
  await write('images/efiboot.img', new Uint8Array(ESP_BYTES));
  for (const name of ['vmlinuz', 'initrd.img', 'rootfs.img']) {
    await write(`images/pxeboot/${name}`, `stand-in for ${name}\n`);
  }
  for (const [path, contents] of coreosLayout(KERNEL_ARGUMENTS, bootLoaders)) {
    await write(path, contents);
  }
  await copyFile(join(ISOLINUX, 'isolinux.bin'), join(tree, 'isolinux/isolinux.bin'));
}
