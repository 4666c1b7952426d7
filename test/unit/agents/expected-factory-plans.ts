import {
  openShiftPreparePlan,
  openShiftUndoPlan,
} from '../../../agents/reconfigure/prepare/openshift/plan.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { ExpectedPlan } from './expected-plan.ts';

/** The plans of `reconfigure prepare` on OpenShift, stated independently like those beside it. */
export const factoryPlans = (settings: Settings): ExpectedPlan[] => [
  [
    openShiftPreparePlan(settings),
    'reconfigure-prepare',
    {
      'node-record': { deadline: 'relocatableMs', once: true },
      'agent-units': { deadline: 'relocatableMs' },
      'factory-policy': { deadline: 'relocatableMs' },
      'medium-rule': { deadline: 'relocatableMs', once: true },
    },
  ],
  [
    openShiftUndoPlan(settings),
    'reconfigure-prepare-undo',
    {
      'medium-rule': { deadline: 'relocatableMs', once: true },
      'factory-policy': { deadline: 'relocatableMs' },
      'agent-units': { deadline: 'relocatableMs' },
      'node-record': { deadline: 'relocatableMs', once: true },
    },
  ],
];
