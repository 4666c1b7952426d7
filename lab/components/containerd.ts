import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Component } from './component.ts';
import { unpackPackages } from './debian-download.ts';
import { buildGoBinaries } from './go-build.ts';

const module = join(import.meta.dirname, 'containerd');

/** All of them, in the folder of either component. */
export const CONTAINERD_PROGRAMS = ['containerd', 'containerd-shim-runc-v2', 'ctr'] as const;

/** The programs of the 2.x series, which has RuntimeConfig, and imports images in another way than 1.x. */
export const containerd: Component = {
  name: 'containerd',
  version: '2.4.2',
  recipe: [import.meta.filename, module],
  build: (target, context) =>
    buildGoBinaries(
      target,
      {
        module,
        packages: {
          'github.com/containerd/containerd/v2/cmd/containerd': 'containerd',
          'github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2':
            'containerd-shim-runc-v2',
          'github.com/containerd/containerd/v2/cmd/ctr': 'ctr',
        },
        deadlineMs: 30 * 60_000,
      },
      context,
    ),
};

/** The same programs of the 1.6 series, as the lab's operating system has them. */
export const debianContainerd: Component = {
  name: 'containerd-debian',
  version: 'bookworm',
  recipe: [import.meta.filename],
  build: async (target, context) => {
    const tree = join(target, 'tree');
    await unpackPackages(['containerd'], tree, context);
    for (const name of CONTAINERD_PROGRAMS) {
      await cp(join(tree, 'usr/bin', name), join(target, name));
    }
    await rm(tree, { recursive: true });
  },
};
