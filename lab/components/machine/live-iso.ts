import { copyFile, link, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { Component } from '../component.ts';
import { coreosLayout, EMBED_AREA_BYTES } from '../coreos-layout.ts';
import { ISOLINUX, LABEL, LIVE_ISO, makeIso } from '../live-iso.ts';
import { OS_IMAGE } from '../os-image.ts';
import { continueAt, EFI_VENDOR, LIVE_ARGUMENTS, liveBootLoaders } from './boot-files.ts';
import { bootToolPaths, bootTools } from './boot-tools.ts';
import { makeEsp } from './esp.ts';
import { initramfsIn, kernelIn, kernelVersion } from './kernel.ts';
import { machineOsImage } from './os-image.ts';
import { machineSystem } from './system.ts';

const here = import.meta.dirname;
/** Where the initramfs looks for the squashfs in rootfs.img, as CoreOS's does. */
const SQUASHFS_OFFSET = 124;
const ESP_MIB = 16;
/** Of archives in an initramfs, in bytes. */
const ALIGNMENT = 4;

/**
 * The live ISO that a machine's firmware boots, by BIOS and by UEFI with or without Secure Boot,
 * as a CD or a stick, in the layout of CoreOS's (see ../live-iso.ts). images/pxeboot is for PXE.
 */
export const machineLiveIso: Component = {
  name: 'machine-live-iso',
  version: 'bookworm',
  recipe: [
    import.meta.filename,
    ...['boot-files.ts', 'esp.ts', '../live-iso.ts', '../coreos-layout.ts'].map((name) => {
      return join(here, name);
    }),
  ],
  needs: [machineSystem, machineOsImage, bootTools],
  build: async (target, { signal, report, folderOf }) => {
    const tools = bootToolPaths(folderOf(bootTools));
    const system = join(folderOf(machineSystem), 'tree');
    const iso = join(target, '.iso');
    const pxe = join(iso, 'images/pxeboot');
    await mkdir(pxe, { recursive: true });
    await mkdir(join(iso, 'isolinux'));
    report('make the root file system');
    await makeRootfs(system, join(pxe, 'rootfs.img'), tools, signal);
    const version = await kernelVersion(system);
    await copyFile(kernelIn(system, version), join(pxe, 'vmlinuz'));
    await makeInitrd(initramfsIn(system, version), join(pxe, 'initrd.img'), signal);
    await writeFile(join(iso, 'images/ignition.img'), new Uint8Array(EMBED_AREA_BYTES));
    await makeEsp(
      join(iso, 'images/efiboot.img'),
      { sizeMiB: ESP_MIB, configuration: continueAt(LABEL, `/${EFI_VENDOR}/grub.cfg`), tools },
      signal,
    );
    for (const [path, contents] of coreosLayout(LIVE_ARGUMENTS, liveBootLoaders)) {
      await mkdir(dirname(join(iso, path)), { recursive: true });
      await writeFile(join(iso, path), contents);
    }
    await copyFile(join(ISOLINUX, 'isolinux.bin'), join(iso, 'isolinux/isolinux.bin'));
    await copyFile(tools.ldlinux, join(iso, 'isolinux/ldlinux.c32'));
    await link(join(folderOf(machineOsImage), OS_IMAGE), join(iso, 'images', OS_IMAGE));
    report('make the ISO');
    await makeIso(join(target, LIVE_ISO), iso, { signal });
    await rm(iso, { recursive: true });
  },
};

type Tools = ReturnType<typeof bootToolPaths>;

/** A cpio archive with the squashfs first, where it can be mounted without unpacking it. */
async function makeRootfs(
  tree: string,
  rootfs: string,
  tools: Tools,
  signal: AbortSignal,
): Promise<void> {
  const work = `${rootfs}.work`;
  await mkdir(join(work, 'etc'), { recursive: true });
  // lz4 is read several times as fast as zstd where the processor is emulated.
  const options = ['-comp', 'lz4', '-noappend', '-quiet', '-no-progress'];
  const leaveOut = ['-wildcards', '-e', 'usr/lib/modules/*/initramfs.img'];
  const squashfs = join(work, 'root.squashfs');
  const within = { cancelSignal: signal, timeout: 10 * 60_000 };
  await execa(tools.mksquashfs, [tree, squashfs, ...options, ...leaveOut], {
    ...within,
    env: tools.environment,
  });
  await archive(work, rootfs, ['root.squashfs'], signal);
  await rm(work, { recursive: true });
  await requireSquashfs(rootfs);
}

/** @throws Failure if the initramfs would not find it */
async function requireSquashfs(rootfs: string): Promise<void> {
  const file = await open(rootfs);
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, SQUASHFS_OFFSET);
    if (buffer.toString('latin1') === 'hsqs') return;
    throw new Failure('fatal', `${rootfs} has no squashfs at byte ${SQUASHFS_OFFSET}`, {
      found: buffer.toString('hex'),
    });
  } finally {
    await file.close();
  }
}

/** The installed system's initramfs, with the file by which it knows that it is a live one's. */
async function makeInitrd(initramfs: string, initrd: string, signal: AbortSignal): Promise<void> {
  const work = `${initrd}.work`;
  await mkdir(join(work, 'etc'), { recursive: true });
  await writeFile(join(work, 'etc/coreos-live-initramfs'), 'lab\n');
  const live = `${initrd}.live`;
  await archive(work, live, ['etc'], signal);
  const first = await readFile(initramfs);
  const padding = Buffer.alloc(-first.length & (ALIGNMENT - 1));
  await writeFile(initrd, [first, padding, await readFile(live)]);
  await rm(work, { recursive: true });
  await rm(live);
}

/** As a cpio archive of the kernel's format. */
async function archive(
  folder: string,
  output: string,
  members: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  await execa('bsdtar', ['-cf', output, '--format', 'newc', '-C', folder, ...members], {
    cancelSignal: signal,
    timeout: 5 * 60_000,
  });
}
