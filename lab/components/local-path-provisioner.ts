import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeProgramImage } from '../../lib/payload/image/write.ts';
import type { Component } from './component.ts';
import { buildGoBinaries } from './go-build.ts';
import { kubernetes } from './kubernetes.ts';

export const LOCAL_PATH_PROVISIONER_VERSION = '0.0.30';
const module = join(import.meta.dirname, 'local-path-provisioner');

export const LOCAL_PATH_PROVISIONER_IMAGE = 'local-path-provisioner.tar';

/** An image archive: the provisioner, with a shell for the scripts of its helper pods. */
export const localPathProvisioner: Component = {
  name: 'local-path-provisioner',
  version: LOCAL_PATH_PROVISIONER_VERSION,
  recipe: [import.meta.filename, module],
  after: [kubernetes],
  build: async (target, context) => {
    const name = 'local-path-provisioner';
    await buildGoBinaries(
      target,
      {
        module,
        packages: { 'github.com/rancher/local-path-provisioner': name },
        deadlineMs: 20 * 60_000,
      },
      context,
    );
    const program = join(target, name);
    const applets = ['sh', 'mkdir', 'rm'];
    await writeProgramImage(
      join(target, LOCAL_PATH_PROVISIONER_IMAGE),
      {
        reference: `docker.io/rancher/${name}:v${LOCAL_PATH_PROVISIONER_VERSION}`,
        architecture: 'amd64',
        files: [
          { path: `usr/local/bin/${name}`, source: program },
          ...applets.map((applet) => ({ path: `bin/${applet}`, source: '/bin/busybox' })),
        ],
        entrypoint: [`/usr/local/bin/${name}`],
      },
      context.signal,
    );
    await rm(program);
  },
};
