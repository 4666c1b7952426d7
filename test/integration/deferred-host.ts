import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import type { ControlPlane } from '../../lab/servers/control-plane.ts';
import { applyManifests } from '../../lib/clients/kube/apply.ts';
import { failureTable } from '../../lib/clients/kube/apply-table.ts';
import type { KubeClient } from '../../lib/clients/kube/client.ts';
import { decodeManifests } from '../../lib/clients/kube/manifest-decoding.ts';
import { objectSchema, type Resource, resources } from '../../lib/clients/kube/resources.ts';
import {
  deferredAccess,
  deferredStatus,
  deferredUser,
  roleDependents,
} from '../../lib/clients/rights/deferred.ts';
import {
  deferredFile,
  deferredFolder,
  deferredGroups,
  readDeferred,
} from '../../lib/cluster/deferred/manifests.ts';
import { tieToRole } from '../../lib/cluster/deferred/tie-to-role.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { input } from '../unit/render/rendered-host.ts';

const AGENT = join(import.meta.dirname, 'deferred-agent.ts');
const AGENT_MS = 60_000;
export const UNIT = '/etc/systemd/system/sno-deferred.service';

const limits = { signal: new AbortController().signal, deadlineMs: 10_000 };

export const resource = (apiVersion: string, plural: string): Resource => ({
  apiVersion,
  plural,
  schema: objectSchema,
});
export const rbac = (plural: string) => resource('rbac.authorization.k8s.io/v1', plural);

interface Surroundings {
  readonly controlPlane: ControlPlane;
  readonly admin: KubeClient;
  /** An empty folder. */
  readonly root: string;
}

/** An installed host as a folder, with those objects deferred and their rights granted in the API. */
export async function installedHost(
  { controlPlane, admin, root }: Surroundings,
  objects: readonly object[],
  completed = new Date(),
) {
  const paths = hostPaths(root);
  const write = async (path: string, contents: string, mode = 0o600) => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, contents, { mode });
  };
  for (const [index, object] of objects.entries()) {
    const [manifest] = decodeManifests('x', JSON.stringify(object)).manifests;
    if (manifest === undefined) throw new Error('no manifest');
    const { name, contents } = deferredFile(manifest, index + 1);
    await write(join(deferredFolder(paths), name), contents);
  }
  const user = { name: deferredUser, groups: [] };
  await write(join(paths.config, 'cluster.json'), JSON.stringify(input.cluster));
  await write(join(paths.config, 'deferred.kubeconfig'), await controlPlane.kubeconfig(user));
  for (const name of ['deferred.crt', 'deferred.key']) await write(join(paths.config, name), '');
  await write(join(paths.state, 'record.json'), JSON.stringify({ completed }));
  await write(join(paths.binaries, 'sno-deferred'), '');
  await write(paths.at(UNIT), '');
  // There is no systemd here: only the calls matter.
  await write(join(root, 'tools/systemctl'), '#!/bin/sh\n', 0o755);
  await grant(admin, deferredGroups(await readDeferred(paths)));
  const run = (...args: string[]) =>
    execa(process.execPath, [AGENT, root, ...args], {
      env: { PATH: `${join(root, 'tools')}${delimiter}${process.env.PATH ?? ''}` },
      reject: false,
      all: true,
      timeout: AGENT_MS,
    });
  return { paths, run };
}

/** As bootkube does it; leftovers of an earlier test are recreated. */
export async function grant(admin: KubeClient, groups: readonly string[]): Promise<void> {
  await admin.remove(rbac('clusterroles'), { name: deferredUser }, limits);
  // Kubernetes' garbage collection, which does not run here, would delete the rest.
  for (const { place, ...dependent } of roleDependents) {
    await admin.remove({ ...dependent, schema: objectSchema }, place, limits);
  }
  await admin.remove(resources.configMaps, deferredStatus, limits);
  const text = deferredAccess(groups).map((object) => JSON.stringify(object));
  const rows = await applyManifests(
    admin,
    { manifests: decodeManifests('access', text.join('\n---\n')).manifests, faults: [] },
    { ...limits, concurrency: 4, report: () => {} },
  );
  const failures = failureTable(rows);
  if (failures.length > 0) throw new Error(failures.join('\n'));
  await tieToRole(admin, limits);
}

export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; !(await holds()); await sleep(100)) {
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
  }
}
