import { markerOf, readMarker, writeMarker } from '../../lib/cluster/installation/marker.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists, writeFileAtomic } from '../../lib/host/files.ts';
import { machineIdentity } from '../../lib/host/machine-identity.ts';
import type { HostContext } from '../steps/host-context.ts';

/** Marks the installation as finished, on the disk and for whoever waits for it on this host. */
export const finishAio: StepBody<HostContext> = {
  name: 'finish',
  leaves: '/opt/openshift/.aiokube.done, and the marker of a finished installation',
  touches: ['disk'],
  input: ({ cluster }) => cluster.clusterId,
  async holds({ paths }) {
    const marker = await readMarker(paths.at('/var'));
    return marker?.state === 'finished' && (await exists(paths.aiokubeDone));
  },
  async run({ paths, cluster }) {
    const machine = await machineIdentity(paths);
    await writeMarker(paths.at('/var'), markerOf(cluster, 'finished', machine));
    await writeFileAtomic(paths.aiokubeDone, `${cluster.clusterId}\n`, 0o644);
    return done();
  },
};
