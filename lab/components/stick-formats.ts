import { join } from 'node:path';
import type { Component } from './component.ts';
import { unpackPackages } from './debian-download.ts';

const PACKAGES = ['exfatprogs', 'ntfs-3g', 'libntfs-3g89'];

/** Programs that format a stick as no host of ours reads it. */
export const stickFormats: Component = {
  name: 'stick-formats',
  version: 'bookworm',
  recipe: [import.meta.filename, join(import.meta.dirname, 'debian-download.ts')],
  build: (target, context) => unpackPackages(PACKAGES, join(target, 'tree'), context),
};

/** Where its programs and libraries are in its folder. */
export const stickFormatPaths = (folder: string) =>
  ({
    exfat: join(folder, 'tree/usr/sbin/mkfs.exfat'),
    ntfs: join(folder, 'tree/sbin/mkntfs'),
    libraries: join(folder, 'tree/lib/x86_64-linux-gnu'),
  }) as const;
