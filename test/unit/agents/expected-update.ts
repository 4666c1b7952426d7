import { updatePlan } from '../../../agents/upkeep/update/plan.ts';
import { workerUpdatePlan } from '../../../agents/upkeep/update/worker/plan.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { ExpectedPlan } from './expected-plan.ts';

/** Of a host with a control plane, and of a worker. */
export const updatePlans = (settings: Settings): ExpectedPlan[] => [
  [
    updatePlan(settings),
    'sno-update',
    {
      // What is staged is consumed by the switch.
      stage: { deadline: 'updateStageMs', until: 'switch' },
      prepare: { deadline: 'updatePrepareMs', until: 'switch' },
      backup: { deadline: 'backupMs', until: 'switch' },
      arm: { deadline: 'finishMs', until: 'confirm' },
      switch: { deadline: 'updateSwitchMs', until: 'confirm' },
      settle: { deadline: 'updateSettleMs', until: 'confirm' },
      confirm: { deadline: 'finishMs' },
      // Not before: the flag is what the way back relies on.
      'end-emulation': { deadline: 'updateSettleMs' },
      // It may wait for the restart of a host that goes back.
      'add-ons-back': { deadline: 'updateTrialMs' },
      conclude: { deadline: 'finishMs' },
    },
  ],
  [
    workerUpdatePlan(settings),
    'sno-update',
    {
      stage: { deadline: 'updateStageMs', until: 'switch' },
      prepare: { deadline: 'updatePrepareMs', until: 'switch' },
      arm: { deadline: 'finishMs', until: 'confirm' },
      switch: { deadline: 'updateSwitchMs', until: 'confirm' },
      settle: { deadline: 'updateSettleMs', until: 'confirm' },
      confirm: { deadline: 'finishMs' },
      conclude: { deadline: 'finishMs' },
    },
  ],
];
