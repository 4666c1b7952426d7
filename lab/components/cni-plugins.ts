import { join } from 'node:path';
import type { Component } from './component.ts';
import { buildGoBinaries } from './go-build.ts';

const module = join(import.meta.dirname, 'cni-plugins');
const source = 'github.com/containernetworking/plugins/plugins';

/** The plugins that the rendered CNI configuration chains. */
export const cniPlugins: Component = {
  name: 'cni-plugins',
  version: '1.9.1',
  recipe: [import.meta.filename, module],
  build: (target, context) =>
    buildGoBinaries(
      target,
      {
        module,
        packages: {
          [`${source}/main/bridge`]: 'bridge',
          [`${source}/ipam/host-local`]: 'host-local',
          [`${source}/main/loopback`]: 'loopback',
          [`${source}/meta/portmap`]: 'portmap',
        },
        deadlineMs: 5 * 60_000,
      },
      context,
    ),
};
