import { z } from 'zod';
import { Failure } from '../errors/failure.ts';
import { readTextIfPresent } from '../host/files.ts';
import type { HostPaths } from '../host/paths.ts';
import { type Cluster, clusterSchema } from './cluster.ts';

/** Reads `/etc/sno-agents/cluster.json`; a Failure of kind usage when it is missing or wrong. */
export async function readCluster(paths: HostPaths): Promise<Cluster> {
  const path = `${paths.config}/cluster.json`;
  const text = await readTextIfPresent(path);
  if (text === undefined) {
    throw new Failure('usage', `${path} is not there`, {
      expected: 'the description of the cluster that the live Ignition brings',
      fix: 'Make the Ignition with "sno create single-node-ignition-config".',
    });
  }
  const parsed = clusterSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Failure('usage', `${path} cannot be used`, { found: z.prettifyError(parsed.error) });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
