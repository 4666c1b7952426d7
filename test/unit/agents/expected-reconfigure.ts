/** The plans of a relocatable host, as `expected-plans.ts` states the others. */

import { reconfigureOpenShiftPlan } from '../../../agents/reconfigure/openshift/plan.ts';
import { reconfigurePlan } from '../../../agents/reconfigure/plan.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { ExpectedPlan } from './expected-plan.ts';

export const reconfigurePlans = (settings: Settings): ExpectedPlan[] => [
  [
    reconfigurePlan(settings),
    'reconfigure',
    {
      check: { deadline: 'reconfigureCheckMs', until: 'arm' },
      arm: { deadline: 'finishMs', until: 'confirm' },
      // Everything is stopped until the control plane starts with the identity of the site.
      stop: { deadline: 'reconfigureStopMs', until: 'start' },
      network: { deadline: 'reconfigureNetworkMs', until: 'start' },
      files: { deadline: 'reconfigureFilesMs', until: 'confirm' },
      clock: { deadline: 'reconfigureClockMs', until: 'start' },
      credentials: { deadline: 'reconfigureFilesMs', until: 'start' },
      start: { deadline: 'reconfigureStartMs', until: 'confirm' },
      hostname: { deadline: 'finishMs' },
      objects: { deadline: 'reconfigureFilesMs', until: 'confirm' },
      settle: { deadline: 'reconfigureSettleMs', until: 'confirm' },
      names: { deadline: 'finishMs', until: 'confirm' },
      confirm: { deadline: 'finishMs' },
      conclude: { deadline: 'reconfigureTrialMs' },
    },
  ],
  [
    reconfigureOpenShiftPlan(settings),
    'reconfigure',
    {
      check: { deadline: 'reconfigureCheckMs', until: 'arm' },
      arm: { deadline: 'finishMs', until: 'confirm' },
      stop: { deadline: 'reconfigureStopMs', until: 'start' },
      network: { deadline: 'reconfigureBridgeMs', until: 'start' },
      'local-names': { deadline: 'reconfigureFilesMs', until: 'confirm' },
      hostname: { deadline: 'finishMs' },
      clock: { deadline: 'reconfigureClockMs', until: 'start' },
      start: { deadline: 'reconfigureOperatorsStartMs', until: 'confirm' },
      certificates: { deadline: 'reconfigureFilesMs', until: 'confirm' },
      objects: { deadline: 'reconfigureFilesMs', until: 'routes' },
      routes: { deadline: 'reconfigureRoutesMs', until: 'confirm' },
      settle: { deadline: 'reconfigureOperatorsMs', until: 'confirm' },
      names: { deadline: 'finishMs', until: 'confirm' },
      confirm: { deadline: 'finishMs' },
      conclude: { deadline: 'reconfigureOperatorsTrialMs' },
    },
  ],
];
