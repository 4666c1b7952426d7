import { chmod, copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Component } from '../component.ts';
import { buildGoBinaries, goModuleFolder } from '../go-build.ts';

const module = join(import.meta.dirname, 'api');
const source = 'github.com/openshift/api';

/** Folder with the definitions that the program `render` selects from. */
export const PAYLOAD_CRDS = 'payload-crds';
/** Folder with definitions that the operators' images carry. */
export const OPERATOR_CRDS = 'operator-crds';

/** Definitions outside of the API's own payload. */
const operatorCrds = [
  'apiserver/v1/zz_generated.crd-manifests/kube-apiserver_apirequestcounts.crd.yaml',
  'config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusteroperators.crd.yaml',
  'config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml',
  'operator/v1/zz_generated.crd-manifests/0000_50_ingress_00_ingresscontrollers.crd.yaml',
];

/** OpenShift's API: the program that renders its definitions, and the definitions. */
export const openshiftApi: Component = {
  name: 'openshift-api',
  version: '4.21',
  recipe: [import.meta.filename, module],
  build: async (target, context) => {
    await buildGoBinaries(
      target,
      {
        module,
        packages: { [`${source}/payload-command/cmd/render`]: 'render' },
        deadlineMs: 10 * 60_000,
      },
      context,
    );
    const work = join(target, '.source');
    const folder = await goModuleFolder(module, source, work, context.signal);
    await rm(work, { recursive: true });
    const payload = join(folder, 'payload-manifests/crds');
    await copyFiles(
      (await readdir(payload)).map((name) => join(payload, name)),
      join(target, PAYLOAD_CRDS),
    );
    await copyFiles(
      operatorCrds.map((path) => join(folder, path)),
      join(target, OPERATOR_CRDS),
    );
  },
};

/** Go's module cache is read-only: a copy gets a mode of its own. */
async function copyFiles(files: readonly string[], folder: string): Promise<void> {
  await mkdir(folder);
  for (const file of files) {
    const copy = join(folder, basename(file));
    await copyFile(file, copy);
    await chmod(copy, 0o644);
  }
}
