import { join } from 'node:path';
import type { Component } from './component.ts';
import { unpackPackages } from './debian-download.ts';

/** What systemd loads to talk to a TPM, and its connection to a software TPM. */
export const TPM_LIBRARIES = [
  'libtss2-esys-3.0.2-0',
  'libtss2-mu0',
  'libtss2-rc0',
  'libtss2-sys1',
  'libtss2-tctildr0',
  'libtss2-tcti-swtpm0',
] as const;

const PACKAGES = ['swtpm', 'swtpm-libs', 'libtpms0', ...TPM_LIBRARIES];

/** A TPM in software: TPM 2.0 by the reference implementation, at a TCP port. */
export const swtpm: Component = {
  name: 'swtpm',
  version: 'bookworm',
  recipe: [import.meta.filename, join(import.meta.dirname, 'debian-download.ts')],
  build: (target, context) => unpackPackages(PACKAGES, join(target, 'tree'), context),
};

/** Where its programs and libraries are in its folder. */
export const swtpmPaths = (folder: string) => {
  const libraries = join(folder, 'tree/usr/lib/x86_64-linux-gnu');
  return {
    program: join(folder, 'tree/usr/bin/swtpm'),
    libraries: [libraries, join(libraries, 'swtpm')],
  } as const;
};
