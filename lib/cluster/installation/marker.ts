import { join } from 'node:path';
import { z } from 'zod';
import { type Cluster, clusterDomain } from '../../config/cluster/cluster.ts';
import { stateFile } from '../../host/state-file.ts';
import { varFolders } from '../../host/var-folders.ts';

/**
 * `/var/lib/sno-agents/installation.json` of an installed system: its cluster, and
 * whether the installation is complete.
 */
const markerSchema = z.object({
  clusterId: z.string(),
  cluster: z.string(),
  state: z.enum(['writing', 'finished']),
  at: z.string(),
  /** Of a host that is set up on its own disk: the machine that it was begun on (lib/host/machine-identity.ts). */
  machine: z.string().optional(),
  /** When a rebooted live medium put the disk first in the firmware's boot order. */
  bootOrderSetAt: z.string().optional(),
});

export type InstallationMarker = z.infer<typeof markerSchema>;

/** Which cluster a disk is marked as that of. */
export type MarkedCluster = Pick<Cluster, 'clusterId' | 'name' | 'baseDomain'>;

/** A marker of now; `machine` only for a host that boots from the disk before it is finished. */
export const markerOf = (
  cluster: MarkedCluster,
  state: InstallationMarker['state'],
  machine?: string,
): InstallationMarker => ({
  clusterId: cluster.clusterId,
  cluster: clusterDomain(cluster),
  state,
  at: new Date().toISOString(),
  ...(machine === undefined ? {} : { machine }),
});

const file = (varFolder: string) =>
  stateFile(join(varFolder, 'lib/sno-agents/installation.json'), markerSchema, {
    damaged: 'none-if-read',
    mode: 0o644,
    isIndented: true,
  });

/** Reads the marker below a `/var` folder; undefined if there is no readable one. */
export const readMarker = (varFolder: string): Promise<InstallationMarker | undefined> =>
  file(varFolder).read();

/** A marker, and the `/var` that has it. */
export interface PlacedMarker {
  readonly folder: string;
  readonly marker: InstallationMarker;
}

/**
 * The marker of an operating system that is not running, in whichever stateroot it is: a finished installation of this
 * cluster must not be overlooked for another one beside it.
 */
export async function findMarker(
  mountedRoot: string,
  clusterId: string,
): Promise<PlacedMarker | undefined> {
  const found: PlacedMarker[] = [];
  for (const { path: folder } of await varFolders(mountedRoot)) {
    const marker = await readMarker(folder);
    if (marker !== undefined) found.push({ folder, marker });
  }
  const rank = ({ marker }: PlacedMarker) =>
    (marker.clusterId === clusterId ? 2 : 0) + (marker.state === 'finished' ? 1 : 0);
  return found.toSorted((a, b) => rank(b) - rank(a))[0];
}

export const writeMarker = (varFolder: string, marker: InstallationMarker): Promise<void> =>
  file(varFolder).write(marker);
