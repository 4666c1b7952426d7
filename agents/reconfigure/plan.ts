import { identity } from '../../lib/engine/agents/table.ts';
import type { Plan } from '../../lib/engine/steps/step.ts';
import { within } from '../../lib/engine/steps/within.ts';
import type { Settings } from '../../lib/host/settings.ts';
import { armSite } from './arm.ts';
import { checkSite } from './check.ts';
import { siteClock } from './clock.ts';
import { concludeSite } from './conclude.ts';
import { confirmSite } from './confirm.ts';
import type { ReconfigureContext } from './context.ts';
import { credentials } from './credentials.ts';
import { placeSiteFiles } from './files.ts';
import { hostname } from './hostname.ts';
import { renameAtSite } from './names.ts';
import { siteNetwork } from './network.ts';
import { siteObjects } from './objects.ts';
import { siteOrBack } from './or-back.ts';
import { settleSite } from './settle.ts';
import { startAtSite } from './start.ts';
import { stopForSite } from './stop.ts';

/**
 * Gives the host what its site volume says. What fails before `arm` has changed nothing; what fails
 * afterwards is taken back by sno-trial. Every step may be killed; the unit continues it, also without the volume.
 */
export const reconfigurePlan = (s: Settings): Plan<ReconfigureContext> => ({
  ...identity('reconfigure'),
  achieved: 'the host has the configuration of its site, and is steady',
  steps: [
    within(s, 'reconfigureCheckMs', siteOrBack(checkSite)),
    within(s, 'finishMs', siteOrBack(armSite)),
    // Everything is stopped until the control plane starts with the identity of the site.
    within(s, 'reconfigureStopMs', siteOrBack(stopForSite)),
    within(s, 'reconfigureNetworkMs', siteOrBack(siteNetwork)),
    within(s, 'reconfigureFilesMs', siteOrBack(placeSiteFiles)),
    within(s, 'reconfigureClockMs', siteOrBack(siteClock)),
    within(s, 'reconfigureFilesMs', siteOrBack(credentials)),
    within(s, 'reconfigureStartMs', siteOrBack(startAtSite)),
    within(s, 'finishMs', siteOrBack(hostname)),
    within(s, 'reconfigureFilesMs', siteOrBack(siteObjects)),
    within(s, 'reconfigureSettleMs', siteOrBack(settleSite)),
    within(s, 'finishMs', siteOrBack(renameAtSite)),
    within(s, 'finishMs', siteOrBack(confirmSite)),
    // If the host goes back: until it has restarted.
    within(s, 'reconfigureTrialMs', concludeSite),
  ],
});
