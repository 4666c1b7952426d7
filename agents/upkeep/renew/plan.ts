import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { RenewContext } from '../../steps/certificates/context.ts';
import { concludeRenewal } from './conclude.ts';
import { kubeletCertificates } from './kubelet-certificates.ts';
import { kubeletServing } from './kubelet-serving.ts';
import { laptopCa } from './laptop-ca.ts';
import { renewLeaves } from './renew-leaves.ts';
import { workerServing } from './worker-serving.ts';

/**
 * Once a day, while the host runs. What fails in one step is recorded and does not keep the others
 * from running; the last step reports it.
 */
export const renewPlan = (s: Settings): Plan<RenewContext> => ({
  ...identity('sno-renew'),
  achieved: 'no certificate of this host is due for renewal',
  steps: [
    within(s, 'renewLeavesMs', renewLeaves),
    within(s, 'kubeletServingMs', kubeletServing),
    within(s, 'workerServingMs', workerServing),
    within(s, 'laptopCaMs', laptopCa),
    within(s, 'kubeletCertificatesMs', kubeletCertificates),
    within(s, 'finishMs', concludeRenewal),
  ],
});
