import { markerOf, readMarker, writeMarker } from '../../lib/cluster/installation/marker.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { machineIdentity } from '../../lib/host/machine-identity.ts';
import type { PlainHost } from '../steps/host-context.ts';

/** Marks the installation as finished, on the disk. */
export const finishWorker: StepBody<PlainHost> = {
  name: 'finish',
  leaves: 'the marker of a finished installation',
  touches: ['disk'],
  input: ({ cluster }) => cluster.clusterId,
  holds: async ({ paths }) => (await readMarker(paths.at('/var')))?.state === 'finished',
  async run({ paths, cluster }) {
    const machine = await machineIdentity(paths);
    await writeMarker(paths.at('/var'), markerOf(cluster, 'finished', machine));
    return done();
  },
};
