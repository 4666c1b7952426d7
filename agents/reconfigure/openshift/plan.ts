import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan, Step } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import { concludeSite } from '../conclude.ts';
import { confirmSite } from '../confirm.ts';
import type { ReconfigureContext } from '../context.ts';
import { hostname } from '../hostname.ts';
import { siteOrBack } from '../or-back.ts';
import { armOpenShiftSite } from './arm.ts';
import { siteCertificatesOnOpenShift } from './certificates.ts';
import { checkSiteOnOpenShift } from './check.ts';
import { siteClockOnOpenShift } from './clock.ts';
import { localNames } from './local-names.ts';
import { renameOpenShiftAtSite } from './names.ts';
import { siteNetworkOnOpenShift } from './network.ts';
import { siteObjectsOnOpenShift } from './objects.ts';
import { routes } from './routes.ts';
import { settleOpenShiftSite } from './settle.ts';
import { startOpenShift } from './start.ts';
import { stopOpenShift } from './stop.ts';

/** The same as the plan of the Kubernetes payload, for a node whose operators make a site of objects. */
export const reconfigureOpenShiftPlan = (s: Settings): Plan<ReconfigureContext> => ({
  ...identity('reconfigure'),
  achieved: 'the host has the configuration of its site, and is steady',
  steps: [
    within(s, 'reconfigureCheckMs', siteOrBack(checkSiteOnOpenShift)),
    ...onTrial(s),
    // If the host goes back: until it has restarted.
    within(s, 'reconfigureOperatorsTrialMs', concludeSite),
  ],
});

/** From the trial to its end: the host, then the objects of the API, from a running control plane on. */
export const onTrial = (s: Settings): readonly Step<ReconfigureContext>[] => [
  within(s, 'finishMs', siteOrBack(armOpenShiftSite)),
  within(s, 'reconfigureStopMs', siteOrBack(stopOpenShift)),
  within(s, 'reconfigureBridgeMs', siteOrBack(siteNetworkOnOpenShift)),
  within(s, 'reconfigureFilesMs', siteOrBack(localNames)),
  within(s, 'finishMs', siteOrBack(hostname)),
  within(s, 'reconfigureClockMs', siteOrBack(siteClockOnOpenShift)),
  within(s, 'reconfigureOperatorsStartMs', siteOrBack(startOpenShift)),
  within(s, 'reconfigureFilesMs', siteOrBack(siteCertificatesOnOpenShift)),
  within(s, 'reconfigureFilesMs', siteOrBack(siteObjectsOnOpenShift)),
  within(s, 'reconfigureRoutesMs', siteOrBack(routes)),
  within(s, 'reconfigureOperatorsMs', siteOrBack(settleOpenShiftSite)),
  within(s, 'finishMs', siteOrBack(renameOpenShiftAtSite)),
  within(s, 'finishMs', siteOrBack(confirmSite)),
];
