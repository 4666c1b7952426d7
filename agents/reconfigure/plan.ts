import { identity } from '../../lib/engine/agents/table.ts';
import type { Plan } from '../../lib/engine/steps/step.ts';
import { within } from '../../lib/engine/steps/within.ts';
import type { Settings } from '../../lib/host/settings.ts';
import { arm } from './arm.ts';
import { check } from './check.ts';
import { clock } from './clock.ts';
import { conclude } from './conclude.ts';
import { confirm } from './confirm.ts';
import type { ReconfigureContext } from './context.ts';
import { credentials } from './credentials.ts';
import { files } from './files.ts';
import { hostname } from './hostname.ts';
import { names } from './names.ts';
import { network } from './network.ts';
import { objects } from './objects.ts';
import { orBack } from './or-back.ts';
import { settle } from './settle.ts';
import { start } from './start.ts';
import { stop } from './stop.ts';

/**
 * Gives the host what its site volume says. What fails before `arm` has changed nothing; what fails
 * afterwards is taken back by sno-trial. Every step may be killed; the unit continues it, also without the volume.
 */
export const reconfigurePlan = (s: Settings): Plan<ReconfigureContext> => ({
  ...identity('reconfigure'),
  achieved: 'the host has the configuration of its site, and is steady',
  steps: [
    within(s, 'reconfigureCheckMs', orBack(check)),
    within(s, 'finishMs', orBack(arm)),
    within(s, 'reconfigureStopMs', orBack(stop)),
    within(s, 'reconfigureNetworkMs', orBack(network)),
    within(s, 'reconfigureFilesMs', orBack(files)),
    within(s, 'reconfigureClockMs', orBack(clock)),
    within(s, 'reconfigureFilesMs', orBack(credentials)),
    within(s, 'reconfigureStartMs', orBack(start)),
    within(s, 'finishMs', orBack(hostname)),
    within(s, 'reconfigureFilesMs', orBack(objects)),
    within(s, 'reconfigureSettleMs', orBack(settle)),
    within(s, 'finishMs', orBack(names)),
    within(s, 'finishMs', orBack(confirm)),
    // If the host goes back: until it has restarted.
    within(s, 'reconfigureTrialMs', conclude),
  ],
});
