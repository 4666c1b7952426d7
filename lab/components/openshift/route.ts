import { chmod, copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Component } from '../component.ts';
import { goModuleFolder } from '../go-build.ts';

const module = join(import.meta.dirname, 'api');

/** The definition of Route. */
export const ROUTE_CRD = 'routes.crd.yaml';

/**
 * The definition of Route, of the same module as the rest of the API. It is no part of a release's payload: there,
 * openshift-apiserver serves Routes itself.
 */
export const openshiftRoute: Component = {
  name: 'openshift-route',
  version: '4.21',
  recipe: [import.meta.filename, module],
  build: async (target, { signal }) => {
    const work = join(target, '.source');
    const folder = await goModuleFolder(module, 'github.com/openshift/api', work, signal);
    await rm(work, { recursive: true });
    const copy = join(target, ROUTE_CRD);
    await copyFile(join(folder, 'route/v1/zz_generated.crd-manifests', ROUTE_CRD), copy);
    // Go's module cache is read-only.
    await chmod(copy, 0o644);
  },
};
