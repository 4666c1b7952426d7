import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import { confirmTrust } from './confirm.ts';
import type { TrustContext } from './context.ts';
import { publishedCa } from './published-ca.ts';
import { startWithCa } from './start-with-ca.ts';

/** Several times an hour, on a worker that has joined. A run that is killed is made up for by the next one. */
export const workerTrustPlan = (s: Settings): Plan<TrustContext> => ({
  ...identity('sno-worker-trust'),
  achieved: 'the kubelet knows the API server by the CAs that the cluster publishes',
  steps: [
    within(s, 'workerTrustMs', publishedCa),
    within(s, 'kubeletMs', startWithCa),
    within(s, 'workerTrustMs', confirmTrust),
  ],
});
