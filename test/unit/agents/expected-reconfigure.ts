/** The plans of a relocatable host, as `expected-plans.ts` states the others. */

import { reconfigureOpenShiftPlan } from '../../../agents/reconfigure/openshift/plan.ts';
import { reconfigurePlan } from '../../../agents/reconfigure/plan.ts';
import {
  openShiftPreparePlan,
  openShiftUndoPlan,
} from '../../../agents/reconfigure/prepare/openshift/plan.ts';
import { preparePlan, undoPlan } from '../../../agents/reconfigure/prepare/plan.ts';
import { validatePlan } from '../../../agents/reconfigure/validate/plan.ts';
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
  [
    preparePlan(settings),
    'reconfigure-prepare',
    {
      'internal-address': { deadline: 'relocatableMs' },
      'node-name': { deadline: 'relocatableMs' },
      'node-ports': { deadline: 'relocatableMs' },
      'factory-policy': { deadline: 'relocatableMs' },
      // Last: a volume that arrives before is looked at without a policy.
      'medium-rule': { deadline: 'relocatableMs', once: true },
    },
  ],
  [
    undoPlan(settings),
    'reconfigure-prepare-undo',
    {
      // First, and then the policy: a volume that arrives meanwhile is refused.
      'medium-rule': { deadline: 'relocatableMs', once: true },
      'factory-policy': { deadline: 'relocatableMs' },
      'node-ports': { deadline: 'relocatableMs' },
      'node-name': { deadline: 'relocatableMs' },
      'internal-address': { deadline: 'relocatableMs' },
    },
  ],
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
  [
    validatePlan(settings, { controlPlane: 'kubernetes' }, true),
    'reconfigure-validate',
    { inspect: { deadline: 'validateMs', once: true }, seal: { deadline: 'finishMs' } },
  ],
  [
    validatePlan(settings, { controlPlane: 'openshift' }, false),
    'reconfigure-validate',
    { inspect: { deadline: 'validateOperatorsMs', once: true } },
  ],
];
