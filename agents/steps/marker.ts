import { mkdir } from 'node:fs/promises';
import { Failure } from '../../lib/base/errors/failure.ts';
import {
  type InstallationMarker,
  type MarkedCluster,
  markerOf,
  readMarker,
  writeMarker,
} from '../../lib/cluster/installation/marker.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { isThisMachine, machineIdentity } from '../../lib/host/machine-identity.ts';
import { syncFileSystems } from '../../lib/host/sync.ts';
import type { PlainHost } from './host-context.ts';

/** A host that is set up on its own disk. */
export interface MarkedHost extends Pick<PlainHost, 'paths'> {
  readonly cluster: MarkedCluster;
}

/**
 * Marks the disk as that of this cluster on this machine, before anything else is written: one
 * Ignition config is one installation. A disk that was used before, or was moved to another machine
 * or copied, has the keys and the database of that installation, and is refused.
 */
export const marker: StepBody<MarkedHost> = {
  name: 'marker',
  leaves: 'a disk that is marked as that of this cluster on this machine',
  touches: ['disk'],
  retries: true,
  input: ({ cluster }) => cluster.clusterId,
  async holds(context) {
    const found = await readMarker(context.paths.at('/var'));
    if (found === undefined) return false;
    return (await refusal(found, context)) === undefined;
  },
  async run({ paths, cluster }, { signal }) {
    const found = await readMarker(paths.at('/var'));
    if (found === undefined) {
      // Ignition does not sync what it writes, and it does not run again: from here on, a power cut
      // leaves its files as they are, and /boot without its flag.
      await syncFileSystems([paths.config, paths.state, paths.at('/boot')], signal);
      await mkdir(paths.state, { recursive: true, mode: 0o755 });
      const machine = await machineIdentity(paths);
      await writeMarker(paths.at('/var'), markerOf(cluster, 'writing', machine));
      return done('the disk has no installation yet');
    }
    const refused = await refusal(found, { paths, cluster });
    if (refused !== undefined) throw refused;
    return done(`begun at ${found.at}`);
  },
};

/** Undefined for the marker of this installation. */
async function refusal(
  found: InstallationMarker,
  { paths, cluster: { clusterId } }: MarkedHost,
): Promise<Failure | undefined> {
  const state = found.state === 'finished' ? 'a finished' : 'an unfinished';
  if (found.clusterId !== clusterId) {
    return new Failure('fatal', 'the disk holds another installation', {
      code: 'disk-other-system',
      expected: `none, or that of the cluster with the id ${clusterId}`,
      found: `${state} installation of ${found.cluster} (${found.clusterId})`,
      fix: 'Write the image to the whole disk again, without partitions that are kept.',
    });
  }
  if (await isThisMachine(paths, found.machine)) return undefined;
  return new Failure('fatal', 'the disk holds the installation of another machine', {
    code: 'disk-other-machine',
    expected: `the machine ${found.machine ?? 'of the installation'}`,
    found: await machineIdentity(paths),
    fix: 'Create an Ignition config for each host, and write the image to this disk again with its own.',
  });
}
