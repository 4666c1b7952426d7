import { underlying } from '../../../lib/cluster/installation/in-place/places.ts';
import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { commit } from '../../steps/in-place/commit.ts';
import { restart } from '../restart.ts';
import { waitForBootkube } from '../wait-for-bootkube.ts';
import { removePods } from './remove-pods.ts';
import { stage } from './stage.ts';

/** From the combined Ignition to the reboot, on a host that bootstraps in memory on the disk that it is installed to. */
export const installInPlacePlan = (s: Settings): Plan<HostContext> => ({
  ...identity('install-to-disk'),
  achieved: 'the disk is that of the installed host',
  steps: [
    within(s, 'waitForBootkubeMs', waitForBootkube),
    within(s, 'stopEtcdMs', removePods),
    within(s, 'stageMs', stage),
    within(
      s,
      'stageMs',
      commit(({ paths }) => underlying(paths)),
    ),
    within(s, 'finishMs', restart),
  ],
});
