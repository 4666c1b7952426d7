import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { exists } from '../../lib/host/files.ts';
import type { Component } from './component.ts';

/**
 * A program of the crate with its name, from the system when it has one. Otherwise built with
 * the quickest profile, which is half the work of the next one: its own speed hardly matters beside I/O, and
 * what unpacks and hashes is in C.
 */
export function cargoProgram(name: string, version: string): Component {
  return {
    name,
    version,
    recipe: [import.meta.filename],
    build: async (target, { signal, report }) => {
      const installed = join('/usr/bin', name);
      if (await exists(installed)) {
        await copyFile(installed, join(target, name));
        return;
      }
      report(`cargo install ${name} ${version}`);
      const root = join(target, '.cargo-root');
      await mkdir(root);
      const work = ['--root', root, '--target-dir', join(target, '.cargo-target')];
      await execa('cargo', ['install', name, '--version', version, '--locked', ...work], {
        env: {
          CARGO_PROFILE_RELEASE_OPT_LEVEL: '0',
          CARGO_PROFILE_RELEASE_LTO: 'off',
          CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16',
          CARGO_PROFILE_RELEASE_DEBUG: '0',
          // Of the parts in C, which would take the level of the profile.
          CFLAGS: '-O2',
        },
        cancelSignal: signal,
        // Two minutes on an idle machine; one that builds the other components and runs tests beside it takes far longer.
        timeout: 60 * 60_000,
      });
      await rename(join(root, 'bin', name), join(target, name));
      await rm(root, { recursive: true });
      await rm(join(target, '.cargo-target'), { recursive: true });
    },
  };
}
