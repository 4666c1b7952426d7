import { productVersion } from '../../../../lib/base/version.ts';
import { writeRecord } from '../../../../lib/cluster/installation/record.ts';
import { clusterDomain } from '../../../../lib/config/cluster/cluster.ts';
import { clusterPath, writeCluster } from '../../../../lib/config/cluster/read-cluster.ts';
import { done } from '../../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { exists, removeFile } from '../../../../lib/host/files.ts';
import type { PlainHost } from '../../../steps/host-context.ts';

type Context = Pick<PlainHost, 'paths' | 'cluster' | 'hostname'>;

/**
 * Describes the cluster of another installer for the agents, and records it as installed: the login prompt and reports go by that.
 * What an installation of ours has written stays.
 */
export const clusterRecord: StepBody<Context> = {
  name: 'cluster-record',
  leaves: 'the description of the cluster and the record of its installation, for the agents',
  touches: ['disk', 'clock'],
  input: ({ cluster }) => cluster.openshift?.clusterId,
  holds: async ({ paths }) => (await exists(paths.record)) && exists(clusterPath(paths)),
  async run({ paths, cluster, hostname }) {
    if (cluster.openshift?.installedByOthers !== true) return done('as it was');
    const domain = clusterDomain(cluster);
    // The record first: whoever finds the description does not describe again.
    if (!(await exists(paths.record))) {
      await writeRecord(paths, {
        schemaVersion: 1,
        version: productVersion,
        clusterId: cluster.clusterId,
        cluster: domain,
        node: hostname(),
        completed: new Date().toISOString(),
        containerRestarts: [],
        steps: [],
      });
    }
    if (!(await exists(clusterPath(paths)))) await writeCluster(paths, cluster);
    return done(`${domain}, made by another installer`);
  },
};

export const withoutClusterRecord: StepBody<Context> = {
  name: 'cluster-record',
  leaves: 'no description and no record of a cluster that another installer made',
  touches: ['disk'],
  input: () => 'removed',
  holds: async ({ paths, cluster }) =>
    cluster.openshift?.installedByOthers !== true || !(await exists(clusterPath(paths))),
  async run({ paths, cluster }) {
    if (cluster.openshift?.installedByOthers !== true) return done('as it was');
    await removeFile(paths.record);
    // Last: it says whose cluster it is.
    await removeFile(clusterPath(paths));
    return done();
  },
};
