import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { parseJson } from '../../base/json.ts';
import { readTextIfPresent } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { type Cluster, clusterSchema, type InstallableCluster } from './cluster.ts';

/** Reads `/etc/sno-agents/cluster.json`. @throws Failure (usage) if it is missing or invalid */
export async function readCluster(paths: HostPaths): Promise<Cluster> {
  const path = clusterPath(paths);
  const text = await readTextIfPresent(path);
  if (text === undefined) {
    throw new Failure('usage', `${path} does not exist`, {
      expected: 'the cluster description from the live Ignition config',
      fix: 'Create the Ignition config with "sno create single-node-ignition-config".',
    });
  }
  const parsed = clusterSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Failure('usage', `${path} cannot be used`, { found: z.prettifyError(parsed.error) });
}

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
