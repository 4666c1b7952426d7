import { mkdir, open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Component } from '../component.ts';
import { OS_IMAGE } from '../os-image.ts';
import { biosBootCode, biosModules, biosStart, continueAt } from './boot-files.ts';
import { bootToolPaths, bootTools } from './boot-tools.ts';
import { deploy, type Sysroot } from './deployment.ts';
import { makeEsp } from './esp.ts';
import { machineSystem } from './system.ts';
import { treeRecipe } from './tree.ts';

const MiB = 1024 * 1024;
/** CoreOS's images have this one too; the first boot makes another one. */
const DISK_GUID = '00000000-0000-4000-A000-000000000001';

/** Partitions of the image, in order, as CoreOS numbers them, with their places in MiB. */
export const machinePartitions = {
  'BIOS-BOOT': { number: 1, type: 'ef02', startMiB: 1, sizeMiB: 1 },
  'EFI-SYSTEM': { number: 2, type: 'ef00', startMiB: 2, sizeMiB: 127 },
  boot: { number: 3, type: '8300', startMiB: 129, sizeMiB: 384 },
  root: { number: 4, type: '8304', startMiB: 513, sizeMiB: 1536 },
} as const;
const DISK_MIB = 513 + 1536 + 1;
/** Of a folder's inode in ext4 (EXT4_EXTENTS_FL, EXT4_IMMUTABLE_FL): that of a deployment, as ostree leaves it. */
const IMMUTABLE = '0x80010';

/** The image that coreos-installer writes: a disk with an ostree deployment, which boots by BIOS and by UEFI. */
export const machineOsImage: Component = {
  name: 'machine-os-image',
  version: 'bookworm',
  recipe: [
    ...['os-image.ts', 'boot-files.ts', 'esp.ts', 'deployment.ts'].map((name) => {
      return join(import.meta.dirname, name);
    }),
    ...treeRecipe,
  ],
  needs: [machineSystem, bootTools],
  build: async (target, { signal, report, folderOf }) => {
    const within = { cancelSignal: signal, timeout: 10 * 60_000 };
    const tools = bootToolPaths(folderOf(bootTools));
    const image = join(target, 'sno-lab-os.raw');
    report('make the deployment');
    const work = join(target, '.work');
    await mkdir(work);
    const sysroot = await deploy(join(folderOf(machineSystem), 'tree'), work, signal);
    report('make the partitions');
    await makePartitions(image, within);
    await writeBiosBootLoader(image, target, tools, within);
    const esp = join(target, '.esp');
    const { startMiB, sizeMiB } = machinePartitions['EFI-SYSTEM'];
    const configuration = continueAt('boot', '/grub2/grub.cfg');
    await makeEsp(esp, { sizeMiB, configuration, tools }, signal);
    const place = ['bs=1M', `seek=${startMiB}`, 'conv=notrunc,sparse', 'status=none'];
    await execa('dd', [`if=${esp}`, `of=${image}`, ...place], within);
    await rm(esp);
    report('make the file systems');
    await makeFileSystems(image, sysroot, within);
    await rm(work, { recursive: true });
    report('compress the disk image');
    const output = ['-o', join(target, OS_IMAGE)];
    await execa('zstd', ['-q', '-3', '-T0', '--rm', image, ...output], within);
  },
};

interface Within {
  readonly cancelSignal: AbortSignal;
  readonly timeout: number;
}

async function makePartitions(image: string, within: Within): Promise<void> {
  await writeFile(image, '');
  await truncate(image, DISK_MIB * MiB);
  const table = Object.entries(machinePartitions).flatMap(([label, partition]) => {
    const { number, type, startMiB, sizeMiB } = partition;
    const range = `${startMiB}M:+${sizeMiB}M`;
    return [`-n${number}:${range}`, `-t${number}:${type}`, `-c${number}:${label}`];
  });
  await execa('sgdisk', ['-o', `-U${DISK_GUID}`, ...table, image], within);
}

async function writeBiosBootLoader(
  image: string,
  work: string,
  tools: ReturnType<typeof bootToolPaths>,
  within: Within,
): Promise<void> {
  const start = join(work, '.start.cfg');
  const core = join(work, '.core.img');
  await writeFile(start, biosStart);
  const format = ['-O', 'i386-pc', '-d', tools.grubBios, '-p', '/grub2', '-c', start, '-o', core];
  await execa(tools.grubMkimage, [...format, ...biosModules], {
    ...within,
    env: tools.environment,
  });
  const partitionByte = machinePartitions['BIOS-BOOT'].startMiB * MiB;
  const boot = await readFile(join(tools.grubBios, 'boot.img'));
  const code = biosBootCode(boot, await readFile(core), partitionByte);
  const file = await open(image, 'r+');
  try {
    await file.write(code.bootCode, 0, code.bootCode.length, 0);
    await file.write(code.core, 0, code.core.length, partitionByte);
  } finally {
    await file.close();
  }
  await rm(start);
  await rm(core);
}

/** Labels are in the files' attributes; a flag of an inode is not copied. */
async function makeFileSystems(image: string, sysroot: Sysroot, within: Within): Promise<void> {
  for (const label of ['boot', 'root'] as const) {
    const { startMiB, sizeMiB } = machinePartitions[label];
    const kind = ['-q', '-F', '-t', 'ext4', '-m', '0', '-L', label, '-d', sysroot[label]];
    const options = ['-E', `offset=${startMiB * MiB},root_owner=0:0`];
    await execa('mke2fs', [...kind, ...options, image, `${sizeMiB}M`], within);
  }
  const root = `${image}?offset=${machinePartitions.root.startMiB * MiB}`;
  const change = `set_inode_field /${sysroot.deployment} flags ${IMMUTABLE}`;
  await execa('debugfs', ['-w', '-R', change, root], within);
}
