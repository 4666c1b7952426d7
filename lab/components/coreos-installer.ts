import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { exists } from '../../lib/host/files.ts';
import type { Component } from './component.ts';

const VERSION = '0.27.0';
const installed = '/usr/bin/coreos-installer';

/**
 * coreos-installer, from the system when it has one. Otherwise built with a quick
 * profile: two minutes instead of ten, and its own speed hardly matters beside I/O.
 */
export const coreosInstaller: Component = {
  name: 'coreos-installer',
  version: VERSION,
  recipe: [import.meta.filename],
  build: async (target, { signal, report }) => {
    if (await exists(installed)) {
      await copyFile(installed, join(target, 'coreos-installer'));
      return;
    }
    report(`cargo install coreos-installer ${VERSION}`);
    const root = join(target, '.cargo-root');
    await mkdir(root);
    const work = ['--root', root, '--target-dir', join(target, '.cargo-target')];
    await execa(
      'cargo',
      ['install', 'coreos-installer', '--version', VERSION, '--locked', ...work],
      {
        env: {
          CARGO_PROFILE_RELEASE_OPT_LEVEL: '1',
          CARGO_PROFILE_RELEASE_LTO: 'off',
          CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16',
          CARGO_PROFILE_RELEASE_DEBUG: '0',
        },
        cancelSignal: signal,
        timeout: 20 * 60_000,
      },
    );
    await rename(join(root, 'bin/coreos-installer'), join(target, 'coreos-installer'));
    await rm(root, { recursive: true });
    await rm(join(target, '.cargo-target'), { recursive: true });
  },
};
