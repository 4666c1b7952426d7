import { mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Component } from './component.ts';
import { debianRuntimeRootFilesystem, rootFilesystem } from './root-filesystem.ts';

const MiB = 1024 * 1024;

/**
 * Partitions of the image, in order, sizes in MiB. `boot` and `root` are found by
 * these labels, as on CoreOS; the root grows to the end of the disk at first boot.
 */
const partitions = [
  { label: 'EFI-SYSTEM', type: 'ef00', sizeMiB: 32 },
  { label: 'boot', type: '8300', sizeMiB: 384 },
  { label: 'root', type: '8304', sizeMiB: 1536 },
];

/** Compressed: most of it is zeros, which would cost the installer more to read than to unpack. */
export const OS_IMAGE = 'sno-lab-os.raw.zst';

/** The image that coreos-installer writes: a sparse raw GPT disk, never mounted while it is made. */
export const osImage = imageOf('os-image', rootFilesystem);

/** The same with Debian's own containerd. */
export const debianRuntimeOsImage = imageOf('debian-runtime-os-image', debianRuntimeRootFilesystem);

/** Such an image of a root file system, a component with a folder `tree`. */
export function imageOf(name: string, root: Component): Component {
  return {
    name,
    version: 'bookworm',
    recipe: [import.meta.filename],
    needs: [root],
    build: async (target, { signal, report, folderOf }) => {
      report('make the disk image');
      const within = { cancelSignal: signal, timeout: 5 * 60_000 };
      const image = join(target, 'sno-lab-os.raw');
      const boot = join(target, '.boot');
      await makeBootFolder(boot);
      const contents: Record<string, string> = {
        boot,
        root: join(folderOf(root), 'tree'),
      };

      let startMiB = 1;
      const layout = partitions.map((partition) => {
        const placed = { ...partition, startMiB };
        startMiB += partition.sizeMiB;
        return placed;
      });
      await writeFile(image, '');
      await truncate(image, (startMiB + 1) * MiB);
      const table = layout.flatMap(({ label, type, startMiB, sizeMiB }, index) => {
        const n = index + 1;
        return [`-n${n}:${startMiB}M:+${sizeMiB}M`, `-t${n}:${type}`, `-c${n}:${label}`];
      });
      await execa('sgdisk', ['-o', ...table, image], within);

      for (const { label, startMiB, sizeMiB } of layout) {
        const folder = contents[label];
        if (folder === undefined) continue;
        report(`make the ${label} file system`);
        const options = [`offset=${startMiB * MiB}`, 'root_owner=0:0'].join(',');
        const args = [
          '-q',
          '-F',
          '-t',
          'ext4',
          '-m',
          '0',
          '-L',
          label,
          '-d',
          folder,
          '-E',
          options,
          image,
        ];
        await execa('mke2fs', [...args, `${sizeMiB}M`], within);
      }
      await rm(boot, { recursive: true });
      report('compress the disk image');
      const output = ['-o', join(target, OS_IMAGE)];
      await execa('zstd', ['-q', '-3', '-T0', '--rm', image, ...output], within);
    },
  };
}

/** What is on CoreOS's boot partition as far as coreos-installer and the first boot look at it. */
async function makeBootFolder(folder: string): Promise<void> {
  await mkdir(join(folder, 'loader/entries'), { recursive: true });
  await writeFile(join(folder, 'ignition.firstboot'), '');
  // Empty: coreos-installer appends network profiles, which the lab takes out again.
  for (const name of ['vmlinuz', 'initramfs.img']) await writeFile(join(folder, name), '');
  await writeFile(
    join(folder, 'loader/entries/lab.conf'),
    [
      'title Debian GNU/Linux 12 (lab)',
      'version 1',
      'linux /vmlinuz',
      'initrd /initramfs.img',
      'options root=LABEL=root rw $ignition_firstboot ignition.platform.id=metal',
      '',
    ].join('\n'),
  );
}
