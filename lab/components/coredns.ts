import { join } from 'node:path';
import type { Component } from './component.ts';
import { buildGoBinaries } from './go-build.ts';
import { kubernetes } from './kubernetes.ts';

export const COREDNS_VERSION = '1.13.2';
const module = join(import.meta.dirname, 'coredns');

/** CoreDNS with the plugins of the rendered Corefile. */
export const coredns: Component = {
  name: 'coredns',
  version: COREDNS_VERSION,
  recipe: [import.meta.filename, module],
  after: [kubernetes],
  build: (target, context) =>
    buildGoBinaries(
      target,
      { module, packages: { '.': 'coredns' }, deadlineMs: 20 * 60_000 },
      context,
    ),
};
