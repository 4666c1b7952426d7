import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { signExpired } from '../../steps/sign-expired.ts';
import { futurePodsRemoved } from './future-pods.ts';
import { requestRenewal } from './request-renewal.ts';

/** Before every start of the kubelet: a host must recover by itself after being off for a long time, or by a wrong clock. */
export const certificatesPlan = (s: Settings): Plan<HostContext> => ({
  ...identity('sno-certificates'),
  achieved: 'certificates of the control plane that were due are signed again',
  steps: [
    within(s, 'certificatesMs', signExpired),
    within(s, 'certificatesMs', requestRenewal),
    within(s, 'certificatesMs', futurePodsRemoved),
  ],
});
