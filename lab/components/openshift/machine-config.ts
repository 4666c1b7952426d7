import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Component } from '../component.ts';
import { buildGoBinaries, goModuleFolder } from '../go-build.ts';

const module = join(import.meta.dirname, 'machine-config');
const source = 'github.com/openshift/machine-config-operator';

/** Folder with the templates that the controller renders MachineConfigs from. */
export const MACHINE_CONFIG_TEMPLATES = 'templates';

/** The machine-config operator, controller and server, with the controller's templates. */
export const machineConfig: Component = {
  name: 'openshift-machine-config',
  version: '4.21',
  recipe: [import.meta.filename, module],
  build: async (target, context) => {
    await buildGoBinaries(
      target,
      {
        module,
        packages: Object.fromEntries(
          ['operator', 'controller', 'server'].map((part) => [
            `${source}/cmd/machine-config-${part}`,
            `machine-config-${part}`,
          ]),
        ),
        ldflags: [`-X ${source}/pkg/version.Raw=v4.21.0`],
        tags: [
          ...['containers_image_openpgp', 'containers_image_ostree_stub'],
          ...['exclude_graphdriver_btrfs', 'exclude_graphdriver_devicemapper'],
        ],
        temporaryCache: true,
        deadlineMs: 45 * 60_000,
      },
      context,
    );
    const work = join(target, '.source');
    const folder = await goModuleFolder(module, source, work, context.signal);
    await rm(work, { recursive: true });
    const templates = join(target, MACHINE_CONFIG_TEMPLATES);
    await cp(join(folder, 'templates'), templates, { recursive: true });
  },
};
