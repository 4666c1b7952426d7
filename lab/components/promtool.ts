import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Component } from './component.ts';
import { unpackPackages } from './debian-download.ts';

/** Prometheus' own judge of metrics and alerts. */
export const promtool: Component = {
  name: 'promtool',
  version: 'bookworm',
  recipe: [import.meta.filename, join(import.meta.dirname, 'debian-download.ts')],
  build: async (target, context) => {
    const tree = join(target, 'tree');
    await unpackPackages(['prometheus'], tree, context);
    await rename(join(tree, 'usr/bin/promtool'), join(target, 'promtool'));
    await rm(tree, { recursive: true });
  },
};
