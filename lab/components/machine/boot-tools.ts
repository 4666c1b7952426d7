import { join } from 'node:path';
import type { Component } from '../component.ts';
import { unpackPackages } from '../debian-download.ts';

/** Boot loaders, those for Secure Boot signed, and the programs that make the images. */
const PACKAGES = [
  ...['shim-signed', 'grub-efi-amd64-signed', 'grub-pc-bin', 'grub-common', 'syslinux-common'],
  ...['squashfs-tools', 'liblzo2-2', 'liblz4-1', 'libdevmapper1.02.1'],
];

/** Packages of which the lab uses files, none of them installed on this machine. */
export const bootTools: Component = {
  name: 'boot-tools',
  version: 'bookworm',
  recipe: [import.meta.filename, join(import.meta.dirname, '../debian-download.ts')],
  build: (target, context) => unpackPackages(PACKAGES, join(target, 'tree'), context),
};

/** Where its files are in its folder, and what its programs run with. */
export const bootToolPaths = (folder: string) => {
  const at = (path: string) => join(folder, 'tree', path);
  return {
    shim: at('usr/lib/shim/shimx64.efi.signed'),
    grubEfi: at('usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed'),
    grubBios: at('usr/lib/grub/i386-pc'),
    grubMkimage: at('usr/bin/grub-mkimage'),
    ldlinux: at('usr/lib/syslinux/modules/bios/ldlinux.c32'),
    mksquashfs: at('usr/bin/mksquashfs'),
    environment: {
      LD_LIBRARY_PATH: ['usr/lib/x86_64-linux-gnu', 'lib/x86_64-linux-gnu'].map(at).join(':'),
    },
  } as const;
};
