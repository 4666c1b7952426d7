import { Failure } from '../../base/errors/failure.ts';
import type { HostPaths } from '../../host/paths.ts';
import { stateFile, stateText } from '../../host/state-file.ts';
import { type Cluster, clusterSchema, type InstallableCluster } from './cluster.ts';

/** Reads `/etc/sno-agents/cluster.json`. @throws Failure (usage) if it is missing or invalid */
export async function readCluster(paths: HostPaths): Promise<Cluster> {
  const cluster = await file(paths).read();
  if (cluster !== undefined) return cluster;
  throw new Failure('usage', `${clusterPath(paths)} does not exist`, wanted);
}

/** Replaces it, 0600: a proxy's URL may contain a password. */
export const writeCluster = (paths: HostPaths, cluster: Cluster): Promise<void> =>
  file(paths).write(cluster);

/** The contents of the file, for one that is written together with others. */
export const clusterText = (cluster: Cluster): string => stateText(cluster, false);

const wanted = {
  expected: 'the cluster description from the live Ignition config',
  fix: 'Run this on a host that sno-agents installs or has installed; its Ignition config has the file.',
};

const file = (paths: HostPaths) =>
  stateFile(clusterPath(paths), clusterSchema, {
    damaged: {
      kind: 'usage',
      expected: wanted.expected,
      fix: 'On a live host, create the Ignition config again; on an installed one, restore the file from a copy of the disk.',
    },
  });

/** The same for a plan that writes a disk. @throws Failure (usage) if it names no disk */
export async function readInstallableCluster(paths: HostPaths): Promise<InstallableCluster> {
  const { installation, ...cluster } = await readCluster(paths);
  if (installation !== undefined) return { ...cluster, installation };
  throw new Failure('usage', `${clusterPath(paths)} does not name a disk to write`, {
    expected: 'the field installation, with the disk',
    found: 'no such field',
    fix: 'Create the Ignition config with "sno create single-node-ignition-config".',
  });
}

/** The description of the cluster on its hosts. */
export const clusterPath = (paths: HostPaths) => `${paths.config}/cluster.json`;
