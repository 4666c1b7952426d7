import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../base/json.ts';
import { type Cluster, clusterDomain } from '../../config/cluster/cluster.ts';
import { readTextIfPresent, writeFileAtomic } from '../../host/files.ts';

/**
 * `/var/lib/sno-agents/installation.json` of an installed system: its cluster, and
 * whether the installation is complete.
 */
const markerSchema = z.object({
  clusterId: z.string(),
  cluster: z.string(),
  state: z.enum(['writing', 'finished']),
  at: z.string(),
  /** Of an all-in-one host: the machine that it was begun on (lib/host/machine-identity.ts). */
  machine: z.string().optional(),
  /** When a rebooted live medium put the disk first in the firmware's boot order. */
  bootOrderSetAt: z.string().optional(),
});

export type InstallationMarker = z.infer<typeof markerSchema>;

/** A marker of now; `machine` only for an all-in-one host. */
export const markerOf = (
  cluster: Cluster,
  state: InstallationMarker['state'],
  machine?: string,
): InstallationMarker => ({
  clusterId: cluster.clusterId,
  cluster: clusterDomain(cluster),
  state,
  at: new Date().toISOString(),
  ...(machine === undefined ? {} : { machine }),
});

const MARKER = 'lib/sno-agents/installation.json';

/** Reads the marker below a `/var` folder; undefined if there is no readable one. */
export async function readMarker(varFolder: string): Promise<InstallationMarker | undefined> {
  const text = await readTextIfPresent(join(varFolder, MARKER));
  return markerSchema.safeParse(parseJson(text ?? '')).data;
}

export async function writeMarker(varFolder: string, marker: InstallationMarker): Promise<void> {
  await writeFileAtomic(join(varFolder, MARKER), `${JSON.stringify(marker, null, 2)}\n`, 0o644);
}
