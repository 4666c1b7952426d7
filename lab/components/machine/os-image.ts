import { mkdir, open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Component } from '../component.ts';
import { OS_IMAGE } from '../os-image.ts';
import { biosBootCode, biosModules, biosStart, continueAt } from './boot-files.ts';
import { bootToolPaths, bootTools } from './boot-tools.ts';
import { makeEsp } from './esp.ts';
import { machineSystem } from './system.ts';

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

/** The image that coreos-installer writes: a disk that boots by BIOS and by UEFI. */
export const machineOsImage: Component = {
  name: 'machine-os-image',
  version: 'bookworm',
  recipe: ['os-image.ts', 'boot-files.ts', 'esp.ts'].map((name) => join(import.meta.dirname, name)),
  needs: [machineSystem, bootTools],
  build: async (target, { signal, report, folderOf }) => {
    const within = { cancelSignal: signal, timeout: 10 * 60_000 };
    const tools = bootToolPaths(folderOf(bootTools));
    const image = join(target, 'sno-lab-os.raw');
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
    await makeFileSystems(image, join(folderOf(machineSystem), 'tree'), target, within);
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

/** Of the tree's /boot, and of the tree without it. Their labels are in the files' attributes. */
async function makeFileSystems(
  image: string,
  tree: string,
  work: string,
  within: Within,
): Promise<void> {
  const root = join(work, '.root');
  await execa('cp', ['-a', '--link', tree, root], within);
  await rm(join(root, 'boot'), { recursive: true });
  await mkdir(join(root, 'boot'));
  const contents = [
    { label: 'boot', folder: join(tree, 'boot') },
    { label: 'root', folder: root },
  ] as const;
  for (const { label, folder } of contents) {
    const { startMiB, sizeMiB } = machinePartitions[label];
    const kind = ['-q', '-F', '-t', 'ext4', '-m', '0', '-L', label, '-d', folder];
    const options = ['-E', `offset=${startMiB * MiB},root_owner=0:0`];
    await execa('mke2fs', [...kind, ...options, image, `${sizeMiB}M`], within);
  }
  await rm(root, { recursive: true });
}
