import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Component } from '../component.ts';
import { buildGoBinaries, goModuleFolder } from '../go-build.ts';

const module = join(import.meta.dirname, 'installer');
const INSTALLER = 'github.com/openshift/installer';

/**
 * `openshift-install` of 4.19, the newest that the Go module client can have, and its `data` folder:
 * without the build tag `release` it reads its templates from $OPENSHIFT_INSTALL_DATA. It runs
 * without a network; the release image is a string to it.
 */
export const openshiftInstaller: Component = {
  name: 'openshift-install',
  version: '4.19',
  recipe: [import.meta.filename, module],
  build: async (target, context) => {
    await buildGoBinaries(
      target,
      {
        module,
        packages: { [`${INSTALLER}/cmd/openshift-install`]: 'openshift-install' },
        temporaryCache: true,
        deadlineMs: 90 * 60_000,
      },
      context,
    );
    context.report('copies the data of openshift-install');
    const work = join(target, '.module');
    const source = await goModuleFolder(module, INSTALLER, work, context.signal);
    await cp(join(source, 'data', 'data'), join(target, 'data'), { recursive: true });
    await rm(work, { recursive: true });
  },
};
