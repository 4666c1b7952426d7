import { identity } from '../../lib/agents/table.ts';
import type { Settings } from '../../lib/host/settings.ts';
import type { Plan } from '../../lib/steps/step.ts';
import { within } from '../../lib/steps/within.ts';
import { applyDeferred } from './apply-deferred.ts';
import type { DeferredContext } from './context.ts';
import { retireDeferred } from './retire-deferred.ts';

/** After the installation, for as long as a manifest of the user waits for its kind. */
export const deferredPlan = (s: Settings): Plan<DeferredContext> => ({
  ...identity('sno-deferred'),
  achieved: 'every deferred manifest is applied',
  steps: [
    {
      ...within(s, 'apiMs', applyDeferred),
      // The step ends itself at the expiry, by the wall clock. This bounds it should that be set back.
      deadlineMs: (s.deferredExpiryHours + 1) * 3_600_000,
    },
    within(s, 'apiMs', retireDeferred),
  ],
});
