import { clusterPath, writeCluster } from '../../../../lib/config/cluster/read-cluster.ts';
import { done } from '../../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { exists, removeFile } from '../../../../lib/host/files.ts';
import type { PlainHost } from '../../../steps/host-context.ts';

type Context = Pick<PlainHost, 'paths' | 'cluster'>;

/** Describes the cluster of another installer for the agents. What an installation of ours has written stays. */
export const clusterRecord: StepBody<Context> = {
  name: 'cluster-record',
  leaves: 'the description of the cluster, for the agents',
  touches: ['disk'],
  input: ({ cluster }) => cluster.openshift?.clusterId,
  holds: ({ paths }) => exists(clusterPath(paths)),
  async run({ paths, cluster }) {
    if (await exists(clusterPath(paths))) return done('as it was');
    await writeCluster(paths, cluster);
    return done(`${cluster.name}.${cluster.baseDomain}, made by another installer`);
  },
};

export const withoutClusterRecord: StepBody<Context> = {
  name: 'cluster-record',
  leaves: 'no description of a cluster that another installer made',
  touches: ['disk'],
  input: () => 'removed',
  holds: async ({ paths, cluster }) =>
    cluster.openshift?.installedByOthers !== true || !(await exists(clusterPath(paths))),
  async run({ paths, cluster }) {
    if (cluster.openshift?.installedByOthers === true) await removeFile(clusterPath(paths));
    return done();
  },
};
