import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { type InstallationRecord, recordSchema } from '../../lib/cluster/installation/record.ts';
import { staticPodOperators } from '../../lib/cluster/openshift/operators.ts';
import { revisionCounts } from '../../lib/cluster/openshift/revisions.ts';
import type { ClusterCheck } from '../checks/check.ts';
import { cleanLaterBy } from '../checks/clean-later.ts';
import { kubectl } from '../checks/kubectl.ts';
import { nodeReady } from '../checks/node-ready.ts';
import { nothingLeft } from '../checks/nothing-left.ts';
import { unitsGone } from '../checks/units-gone.ts';
import type { Host } from '../host/host.ts';

const podsSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({
        name: z.string(),
        namespace: z.string(),
        labels: z.record(z.string(), z.string()).default({}),
      }),
    }),
  ),
});

async function recordOf({ rootDir }: Host): Promise<InstallationRecord> {
  const text = await readFile(join(rootDir, 'var/lib/sno-agents/record.json'), 'utf8');
  return recordSchema.parse(JSON.parse(text));
}

/** Each component's newest revision by the record of the installation is that of its only pod. */
const ownPods: ClusterCheck = {
  name: 'the static pods are those of their operators, of the newest revision in the record',
  run: async (cluster, signal) => {
    const { revisions = [], node } = await recordOf(cluster.host);
    const text = await kubectl(cluster, ['get', 'pods', '-A', '-o', 'json'], signal);
    const pods = podsSchema.parse(JSON.parse(text)).items.map(({ metadata }) => metadata);
    const bootstrap = pods.filter(({ name }) => name.startsWith('bootstrap-'));
    if (bootstrap.length > 0) {
      const found = bootstrap.map(({ name }) => name).join(', ');
      throw new Failure('fatal', 'pods of the bootstrap are left', { found });
    }
    for (const { component, namespace, pod } of staticPodOperators) {
      const own = revisions.filter((each) => each.component === component);
      const newest = Math.max(0, ...own.map(({ revision }) => revision));
      const name = `${pod}-${node}`;
      const found = pods.find((each) => each.namespace === namespace && each.name === name);
      if (newest > 0 && found?.labels.revision === String(newest)) continue;
      throw new Failure('fatal', `the static pod of ${component} is not that of its operator`, {
        expected: `${name} of revision ${newest}`,
        found: found === undefined ? 'no such pod' : `revision ${found.labels.revision}`,
      });
    }
  },
};

/** The condition for which openshift-install waits, seen by another client than the agent. */
const versionAvailable: ClusterCheck = {
  name: 'the version is Available, and each ClusterOperator is',
  run: async (cluster, signal) => {
    const path =
      '{range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Available")].status} {end}';
    const get = ['get', 'clusterversions,clusteroperators', '-o', `jsonpath=${path}`];
    const found = (await kubectl(cluster, get, signal)).trim().split(' ').toSorted();
    const names = ['version', ...staticPodOperators.map(({ component }) => component)];
    const expected = names.map((name) => `${name}=True`).toSorted();
    if (found.join() === expected.join()) return;
    throw new Failure('fatal', 'the cluster is not available', {
      expected: expected.join(', '),
      found: found.join(', '),
    });
  },
};

/** Of a host of OpenShift whose installation is complete. */
export const installedChecks: readonly ClusterCheck[] = [
  nodeReady,
  versionAvailable,
  ownPods,
  nothingLeft,
  unitsGone,
  // No link in PATH: only the executable stays on a host of OpenShift.
  cleanLaterBy(['/var/lib/sno-agents/bin/sno-agents', 'verify-clean']),
];

/** Writes the revisions in the record to `revisions.json`; returns how many each component had. */
export async function countedRevisions(host: Host, out: string): Promise<string> {
  const { revisions = [] } = await recordOf(host);
  await writeFile(join(out, 'revisions.json'), `${JSON.stringify(revisions, null, 2)}\n`);
  return revisionCounts(revisions);
}
