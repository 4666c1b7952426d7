import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { exists } from '../../lib/host/files.ts';
import { eventually } from '../eventually.ts';
import type { ClusterCheck, InstalledCluster } from './check.ts';
import { kubectl } from './kubectl.ts';
import { DEFERRED, USER_NAMESPACE } from './user-manifests.ts';

const UNIT = 'sno-deferred.service';
const USER = 'sno-agents:deferred';
const SOON_MS = 30_000;

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `cards.${DEFERRED.group}` },
  spec: {
    group: DEFERRED.group,
    scope: 'Namespaced',
    names: { kind: DEFERRED.kind, plural: 'cards', singular: 'card' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
};

/** Whoever prepares the installation is told that the manifest is deferred. `output`: all of it, such as its log. */
export function expectDeferredNotice(output: string): void {
  const { kind, name } = DEFERRED;
  if (output.includes(`deferred: ${kind} ${USER_NAMESPACE}/${name} (openshift/30-shop.yaml:`))
    return;
  throw new Failure('fatal', 'create does not report the deferred manifest', { found: output });
}

/** The installation ended without it; the kind is defined later, as by an operator. */
export const deferredApplied: ClusterCheck = {
  name: 'a manifest whose kind came later is applied, and nothing of what applied it is left',
  run: async (cluster, signal) => {
    const state = await hostSays(cluster, ['systemctl', 'is-active', UNIT], signal);
    const before = await statusOf(cluster, signal);
    if (state !== 'active' || !/^waiting for Card\b/.test(before)) {
      throw new Failure('fatal', `${UNIT} is not waiting`, { found: `${state}, ${before}` });
    }
    const file = join(cluster.folder, 'definition.json');
    await writeFile(file, JSON.stringify(definition));
    await kubectl(cluster, ['create', '-f', file], signal);
    await eventually(() => requireNothingLeft(cluster, signal), SOON_MS, signal);
    const after = await statusOf(cluster, signal);
    const object = ['get', 'card', DEFERRED.name, '-n', USER_NAMESPACE];
    const points = await kubectl(cluster, [...object, '-o', 'jsonpath={.spec.points}'], signal);
    if (/^applied \d/.test(after) && points === '7') return;
    throw new Failure('fatal', 'the deferred manifest was not applied as given', {
      expected: 'applied, 7 points',
      found: `${after}, ${points} points`,
    });
  },
};

async function statusOf(cluster: InstalledCluster, signal: AbortSignal): Promise<string> {
  const configMap = ['get', 'configmap', 'sno-deferred', '-n', 'kube-system'];
  const entries = await kubectl(cluster, [...configMap, '-o', 'jsonpath={.data.*}'], signal);
  return entries.trim();
}

/** Remaining unit, files, identity and rights. */
async function left(cluster: InstalledCluster, signal: AbortSignal): Promise<string[]> {
  const { rootDir } = cluster.host;
  const list = ['systemctl', 'list-unit-files', '--no-legend', '--plain', UNIT];
  const units = await hostSays(cluster, list, signal);
  const config = (await readdir(join(rootDir, 'etc/sno-agents'))).filter((name) =>
    name.startsWith('deferred'),
  );
  const links = (await exists(join(rootDir, 'var/lib/sno-agents/bin/sno-deferred')))
    ? ['link']
    : [];
  const state = (await exists(join(rootDir, 'var/lib/sno-agents/sno-deferred'))) ? ['state'] : [];
  const kinds = 'clusterroles,clusterrolebindings,roles,rolebindings';
  const rights = await kubectl(cluster, ['get', kinds, '-A', '-o', 'name'], signal);
  const own = rights.split('\n').filter((name) => name.endsWith(`/${USER}`));
  return [units, ...config, ...links, ...state, ...own].filter((name) => name !== '');
}

async function requireNothingLeft(cluster: InstalledCluster, signal: AbortSignal): Promise<void> {
  const found = await left(cluster, signal);
  if (found.length === 0) return;
  throw new Failure('fatal', `parts of ${UNIT} are left`, { found: found.join(', ') });
}

async function hostSays({ host }: InstalledCluster, argv: string[], signal: AbortSignal) {
  return (await host.exec(argv, { timeoutMs: 20_000 }, signal)).stdout.trim();
}
