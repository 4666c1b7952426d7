import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../lib/host/command.ts';
import { sha256OfFiles } from '../../lib/host/digests.ts';
import { writeImageArchive } from '../../lib/payload/image/write.ts';
import type { Component } from './component.ts';
import { type Layer, writeLayers } from './e2e-image-layers.ts';
import { e2eTest } from './e2e-test.ts';
import { etcd } from './etcd.ts';
import { imageConfig, type RunConfig } from './image-tree.ts';
import { pause } from './pause.ts';
import { KUBERNETES_VERSION } from './versions.ts';

/** For e2e.test's KUBE_TEST_REPO_LIST: the registry in the names of the images built here. */
export const E2E_REGISTRIES = 'registries.yaml';
/** Folder with one archive for each image. */
export const E2E_ARCHIVES = 'archives';

/** Not upstream's: these images have its images' purpose, not their contents. */
const registries = `promoterE2eRegistry: registry.lab/e2e-test-images
gcRegistry: registry.lab
gcEtcdRegistry: registry.lab
`;

interface Recipe {
  /** The lowest layer first. */
  readonly layers: readonly Layer[];
  readonly config?: RunConfig;
}

const serve = (folder: string) => ['httpd', '-f', '-p', '80', '-h', folder];

/** Every image that a conformance test starts, by the last part of its name. */
const recipes: Readonly<Record<string, Recipe>> = {
  agnhost: {
    layers: ['debian', 'agnhost'],
    config: { Entrypoint: ['/agnhost'], Cmd: ['pause'] },
  },
  // Of Kubernetes up to 1.36, and of later ones.
  'jessie-dnsutils': { layers: ['debian'] },
  'glibc-dns-testing': { layers: ['debian'] },
  nautilus: {
    layers: ['busybox', 'agnhost', 'nautilus'],
    config: { Entrypoint: ['/agnhost'], Cmd: ['test-webserver'] },
  },
  busybox: { layers: ['busybox'], config: { Cmd: ['sh'] } },
  nonroot: { layers: ['busybox'], config: { User: '1234' } },
  nonewprivs: { layers: ['busybox', 'nonewprivs'], config: { Cmd: ['nnp'] } },
  httpd: { layers: ['busybox', 'httpd'], config: { Cmd: serve('/usr/local/apache2/htdocs') } },
  nginx: { layers: ['busybox', 'nginx'], config: { Cmd: serve('/usr/share/nginx/html') } },
  'sample-apiserver': {
    layers: ['busybox', 'sample-apiserver'],
    config: { Entrypoint: ['/sample-apiserver'] },
  },
  etcd: { layers: ['busybox', 'etcd'] },
  pause: { layers: ['pause'], config: { Entrypoint: ['/pause'] } },
};

/**
 * The images that conformance tests start, with the names and tags that e2e.test asks for.
 * agnhost, sample-apiserver, etcd and pause are the projects' own programs. httpd and nginx are
 * BusyBox's web server with their document roots: the tests only look at the HTTP answer.
 */
export const e2eImages: Component = {
  name: 'e2e-images',
  version: KUBERNETES_VERSION,
  recipe: [
    import.meta.filename,
    join(import.meta.dirname, 'e2e-image-layers.ts'),
    join(import.meta.dirname, 'debootstrap.ts'),
    join(import.meta.dirname, 'image-tree.ts'),
  ],
  needs: [e2eTest, etcd, pause],
  build: async (target, { folderOf, signal, report }) => {
    const archives = join(target, E2E_ARCHIVES);
    const work = join(target, '.work');
    for (const folder of [archives, work]) await mkdir(folder);
    await writeFile(join(target, E2E_REGISTRIES), registries);
    const programs = {
      e2eTest: folderOf(e2eTest),
      etcd: folderOf(etcd),
      pause: folderOf(pause),
    };
    report('write the layers');
    const tars = await writeLayers(work, programs, signal);
    const digests = await sha256OfFiles([...tars.values()], signal);
    const references = await imageList(programs.e2eTest, join(target, E2E_REGISTRIES), signal);
    for (const reference of references) {
      const [, name = '', tag = ''] = /([^/]+):(.+)$/.exec(reference) ?? [];
      const recipe = recipes[name];
      if (recipe === undefined || !reference.startsWith('registry.lab/')) continue;
      report(reference);
      const layers = recipe.layers.map((layer) => {
        const path = tars.get(layer) ?? '';
        return { path, diffId: digests.get(path) ?? '' };
      });
      const config = imageConfig(recipe.config ?? {}, layers);
      const archive = join(archives, `${name}-${tag}.tar`);
      await writeImageArchive(archive, { reference, config, layers }, signal);
    }
    await rm(work, { recursive: true });
  },
};

/** References of the images that e2e.test may start. */
async function imageList(
  e2eTestFolder: string,
  registryList: string,
  signal: AbortSignal,
): Promise<string[]> {
  const list = await run(join(e2eTestFolder, 'e2e.test'), ['--list-images'], {
    env: { KUBE_TEST_REPO_LIST: registryList },
    signal,
    deadlineMs: 60_000,
  });
  return list.split('\n');
}
