import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../lib/host/command.ts';
import type { Component } from './component.ts';
import { buildGoBinaries, goModuleFolder } from './go-build.ts';

/** Of the cluster's minor version, as CRI-O's releases are. */
const VERSION = '1.34.0';
const module = join(import.meta.dirname, 'cri-o');

/** `crio` without C libraries, and `pinns`, with which it makes the namespaces of a pod. */
export const crio: Component = {
  name: 'cri-o',
  version: VERSION,
  recipe: [import.meta.filename, module],
  build: async (target, context) => {
    const { signal, report } = context;
    const work = join(target, '.module');
    const folder = await goModuleFolder(module, 'github.com/cri-o/cri-o', work, signal);
    report('compile pinns');
    const sources = join(folder, 'pinns/src');
    const files = (await readdir(sources)).filter((name) => name.endsWith('.c'));
    const flags = ['-std=c99', '-Os', '-static', '-o', join(target, 'pinns')];
    const paths = files.map((name) => join(sources, name));
    await run('gcc', [...flags, ...paths], { signal, deadlineMs: 60_000 });
    await buildGoBinaries(
      target,
      {
        module,
        packages: { 'github.com/cri-o/cri-o/cmd/crio': 'crio' },
        tags: [
          'containers_image_openpgp',
          'containers_image_ostree_stub',
          'exclude_graphdriver_btrfs',
          'exclude_graphdriver_devicemapper',
        ],
        deadlineMs: 30 * 60_000,
      },
      context,
    );
    await rm(work, { recursive: true });
  },
};
