import { identity } from '../../lib/engine/agents/table.ts';
import type { Plan } from '../../lib/engine/steps/step.ts';
import { within } from '../../lib/engine/steps/within.ts';
import type { Settings } from '../../lib/host/settings.ts';
import { applyAddOns } from '../steps/add-ons.ts';
import { api } from '../steps/api.ts';
import { bootstrapComplete } from '../steps/bootstrap-complete.ts';
import { clean } from '../steps/clean.ts';
import { announce, complete } from '../steps/complete.ts';
import type { HostContext } from '../steps/host-context.ts';
import { awaitNodeReady } from '../steps/node-ready.ts';
import { nodeRole } from '../steps/node-role.ts';
import { record } from '../steps/record.ts';
import { relocatable } from '../steps/relocatable/relocatable.ts';
import { servingCertificate } from '../steps/serving-certificate.ts';
import { steadyState } from '../steps/steady-state.ts';
import { verifyClean } from '../steps/verify-clean.ts';
import { retire } from './retire.ts';

/** The installed host, from the API's first response to the end of this agent. */
export const postRebootPlan = (s: Settings): Plan<HostContext> => ({
  ...identity('post-reboot'),
  achieved:
    'PASS: the cluster is installed and in its steady state, and nothing of the bootstrap is left',
  announce,
  steps: [
    within(s, 'apiMs', api),
    within(s, 'servingCertificateMs', servingCertificate),
    within(s, 'nodeReadyMs', awaitNodeReady),
    within(s, 'nodeRoleMs', nodeRole),
    within(s, 'addOnsMs', applyAddOns),
    within(s, 'relocatableMs', relocatable),
    within(s, 'bootstrapCompleteMs', bootstrapComplete),
    within(s, 'steadyStateMs', steadyState('post-reboot')),
    within(s, 'cleanMs', clean),
    within(s, 'verifyCleanMs', verifyClean),
    within(s, 'finishMs', record('post-reboot')),
    within(s, 'completeMs', complete),
    within(s, 'retireMs', retire),
  ],
});
