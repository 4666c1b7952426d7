import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan, Step } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import { conclude } from '../conclude.ts';
import { confirm } from '../confirm.ts';
import type { ReconfigureContext } from '../context.ts';
import { hostname } from '../hostname.ts';
import { orBack } from '../or-back.ts';
import { arm } from './arm.ts';
import { certificates } from './certificates.ts';
import { check } from './check.ts';
import { clock } from './clock.ts';
import { localNames } from './local-names.ts';
import { names } from './names.ts';
import { network } from './network.ts';
import { objects } from './objects.ts';
import { routes } from './routes.ts';
import { settle } from './settle.ts';
import { start } from './start.ts';
import { stop } from './stop.ts';

/** The same as the plan of the Kubernetes payload, for a node whose operators make a site of objects. */
export const reconfigureOpenShiftPlan = (s: Settings): Plan<ReconfigureContext> => ({
  ...identity('reconfigure'),
  achieved: 'the host has the configuration of its site, and is steady',
  steps: [
    within(s, 'reconfigureCheckMs', orBack(check)),
    ...onTrial(s),
    // If the host goes back: until it has restarted.
    within(s, 'reconfigureOperatorsTrialMs', conclude),
  ],
});

/** From the trial to its end: the host, then the objects of the API, from a running control plane on. */
export const onTrial = (s: Settings): readonly Step<ReconfigureContext>[] => [
  within(s, 'finishMs', orBack(arm)),
  within(s, 'reconfigureStopMs', orBack(stop)),
  within(s, 'reconfigureBridgeMs', orBack(network)),
  within(s, 'reconfigureFilesMs', orBack(localNames)),
  within(s, 'finishMs', orBack(hostname)),
  within(s, 'reconfigureClockMs', orBack(clock)),
  within(s, 'reconfigureOperatorsStartMs', orBack(start)),
  within(s, 'reconfigureFilesMs', orBack(certificates)),
  within(s, 'reconfigureFilesMs', orBack(objects)),
  within(s, 'reconfigureRoutesMs', orBack(routes)),
  within(s, 'reconfigureOperatorsMs', orBack(settle)),
  within(s, 'finishMs', orBack(names)),
  within(s, 'finishMs', orBack(confirm)),
];
