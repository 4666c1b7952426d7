import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import { concludeTrial } from './conclude.ts';
import type { TrialContext } from './context.ts';
import { countBoot, decide } from './decide.ts';
import { database, filesPutBack, networkPutBack } from './put-back.ts';

/** At each boot before the network and the kubelet, and when the deadline of the trial has passed. */
export const trialPlan = (s: Settings): Plan<TrialContext> => ({
  ...identity('sno-trial'),
  achieved: 'no change is to be taken back now',
  steps: [
    within(s, 'finishMs', countBoot),
    within(s, 'finishMs', decide),
    // The host is reached again, whatever fails afterwards.
    within(s, 'finishMs', networkPutBack),
    within(s, 'trialRevertMs', filesPutBack),
    within(s, 'finishMs', database),
    within(s, 'finishMs', concludeTrial),
  ],
});
