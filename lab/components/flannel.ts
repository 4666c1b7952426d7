import { join } from 'node:path';
import type { Component } from './component.ts';
import { buildGoBinaries } from './go-build.ts';

export const FLANNEL_VERSION = '0.28.10';
const module = join(import.meta.dirname, 'flannel');

/** flannel with all of its backends, one of which is written in C; host-gw is used. */
export const flannel: Component = {
  name: 'flannel',
  version: FLANNEL_VERSION,
  recipe: [import.meta.filename, module],
  build: (target, context) =>
    buildGoBinaries(
      target,
      {
        module,
        packages: { 'github.com/flannel-io/flannel': 'flannel' },
        ldflags: [`-X github.com/flannel-io/flannel/pkg/version.Version=v${FLANNEL_VERSION}`],
        cgo: true,
        deadlineMs: 20 * 60_000,
      },
      context,
    ),
};
