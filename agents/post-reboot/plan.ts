import { identity } from '../../lib/agents/table.ts';
import type { Settings } from '../../lib/host/settings.ts';
import type { Plan } from '../../lib/steps/step.ts';
import { within } from '../../lib/steps/within.ts';
import { api } from '../steps/api.ts';
import type { HostContext } from '../steps/host-context.ts';
import { nodeReady } from '../steps/node-ready.ts';
import { servingCertificate } from '../steps/serving-certificate.ts';
import { steadyState } from '../steps/steady-state.ts';
import { bootstrapComplete } from './bootstrap-complete.ts';
import { clean } from './clean.ts';
import { announce, complete } from './complete.ts';
import { record } from './record.ts';
import { retire } from './retire.ts';
import { verifyClean } from './verify-clean.ts';

/** The installed host, from the API's first response to the end of this agent. */
export const postRebootPlan = (s: Settings): Plan<HostContext> => ({
  ...identity('post-reboot'),
  achieved:
    'PASS: the cluster is installed and in its steady state, and nothing of the bootstrap is left',
  announce,
  steps: [
    within(s, 'apiMs', api),
    within(s, 'servingCertificateMs', servingCertificate),
    within(s, 'nodeReadyMs', nodeReady),
    within(s, 'bootstrapCompleteMs', bootstrapComplete),
    within(s, 'steadyStateMs', steadyState),
    within(s, 'cleanMs', clean),
    within(s, 'verifyCleanMs', verifyClean),
    within(s, 'finishMs', record),
    within(s, 'completeMs', complete),
    within(s, 'retireMs', retire),
  ],
});
