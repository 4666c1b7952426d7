import { readMarker } from '../../lib/cluster/installation/marker.ts';
import { reboot } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import type { InPlaceHost } from './context.ts';

/** Has the host start as what it is now: systemd has read units that have been replaced since. */
export const restartInstalled: StepBody<InPlaceHost> = {
  name: 'restart',
  leaves: 'a host that restarts as the installed one',
  touches: [],
  input: ({ cluster }) => cluster.clusterId,
  async holds({ paths, bootTime }, { signal }) {
    const marker = await readMarker(paths.at('/var'));
    return marker !== undefined && new Date(marker.at) < (await bootTime(signal));
  },
  run: async () => reboot('the installation on this disk is complete'),
};
