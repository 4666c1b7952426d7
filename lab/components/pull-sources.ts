import { join } from 'node:path';
import type { Component } from './component.ts';
import { buildGoBinaries } from './go-build.ts';

const module = join(import.meta.dirname, 'pull-sources');

/** The name of its program: `pull-sources FOLDER IMAGE`, a folder of registries.conf(5). */
export const PULL_SOURCES = 'pull-sources';

/** Where CRI-O and podman pull an image from, told by the library that both use. */
export const pullSources: Component = {
  name: 'pull-sources',
  version: '5.35.0',
  recipe: [import.meta.filename, module],
  build: (target, context) =>
    buildGoBinaries(
      target,
      {
        module,
        packages: { '.': PULL_SOURCES },
        tags: ['containers_image_openpgp'],
        deadlineMs: 10 * 60_000,
      },
      context,
    ),
};
