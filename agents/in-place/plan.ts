import { identity } from '../../lib/engine/agents/table.ts';
import type { Plan } from '../../lib/engine/steps/step.ts';
import { within } from '../../lib/engine/steps/within.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { Settings } from '../../lib/host/settings.ts';
import { commit } from '../steps/in-place/commit.ts';
import { marker } from '../steps/marker.ts';
import { fetchBundle } from './bundle.ts';
import type { InPlaceHost } from './context.ts';
import { coverFolders } from './cover-folders.ts';
import { forget } from './forget.ts';
import { memory } from './memory.ts';
import { openBundle } from './open.ts';
import { restartInstalled } from './restart.ts';
import { startUnits } from './start.ts';
import { askUserData } from './user-data.ts';

/** A host without a live image, from its boot to the start of bootkube. */
export const inPlacePlan = (s: Settings): Plan<InPlaceHost> => ({
  ...identity('sno-in-place'),
  achieved: 'the bootstrap has begun, in memory',
  steps: [
    within(s, 'finishMs', memory),
    within(s, 'finishMs', marker),
    within(s, 'finishMs', coverFolders),
    within(s, 'bundleMs', fetchBundle),
    within(s, 'finishMs', openBundle),
    within(s, 'finishMs', startUnits),
  ],
});

/** The same after a power cut while install-to-disk completed the disk. */
export const continuePlan = (s: Settings): Plan<InPlaceHost> => ({
  ...identity('sno-in-place'),
  achieved: 'the disk is complete',
  steps: [
    within(
      s,
      'stageMs',
      commit(({ paths }) => paths),
    ),
    within(s, 'finishMs', restartInstalled),
  ],
});

/** On the installed host, once. */
export const forgetPlan = (s: Settings): Plan<{ readonly paths: HostPaths }> => ({
  ...identity('sno-in-place'),
  achieved: 'nothing is left of how this host was installed',
  steps: [within(s, 'finishMs', askUserData()), within(s, 'retireMs', forget)],
});
