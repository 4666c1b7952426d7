import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Component } from '../component.ts';
import { debootstrap } from '../debootstrap.ts';
import { writeTreeLayer } from '../image-tree.ts';

/** The layer's file in the component's folder. */
export const BASE_LAYER = 'base.tar';

/**
 * The lowest layer of images whose static pods run scripts, in place of the release's own: bash
 * as /bin/sh (with `pipefail`), coreutils, flock and ionice (util-linux), ss (iproute2).
 */
export const openshiftBase: Component = {
  name: 'openshift-base',
  version: 'bookworm',
  recipe: [
    import.meta.filename,
    join(import.meta.dirname, '../debootstrap.ts'),
    join(import.meta.dirname, '../image-tree.ts'),
  ],
  build: async (target, { signal, report }) => {
    report('debootstrap bookworm');
    const tree = join(target, 'base');
    await debootstrap(tree, ['iproute2'], signal);
    const shell = join(tree, 'bin/sh');
    await rm(shell);
    await symlink('bash', shell);
    await writeTreeLayer(tree, signal);
    await rm(tree, { recursive: true });
  },
};
