import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { deployment } from './deployment.ts';
import { installPayload } from './install-payload.ts';
import { kubeletState } from './kubelet-state.ts';

/** Before every start of the kubelet: the payload that it runs is complete and intact, and its state is of this host. */
export const payloadPlan = (s: Settings): Plan<HostContext> => ({
  ...identity('sno-payload'),
  achieved: 'the payload is complete and in place',
  steps: [
    within(s, 'finishMs', deployment),
    within(s, 'payloadMs', installPayload),
    within(s, 'finishMs', kubeletState),
  ],
});
