import { join } from 'node:path';
import type { Component } from './component.ts';
import { buildGoBinaries } from './go-build.ts';

const module = join(import.meta.dirname, 'registry');

/** The program of a container registry. */
export const REGISTRY_PROGRAM = 'registry';

/** distribution, the container registry of the CNCF, with its file system storage only. */
export const registry: Component = {
  name: 'registry',
  version: '3.0.0',
  recipe: [import.meta.filename, module],
  build: (target, context) =>
    buildGoBinaries(
      target,
      { module, packages: { '.': REGISTRY_PROGRAM }, deadlineMs: 20 * 60_000 },
      context,
    ),
};
