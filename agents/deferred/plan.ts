import { identity } from '../../lib/engine/agents/table.ts';
import type { Plan } from '../../lib/engine/steps/step.ts';
import { within } from '../../lib/engine/steps/within.ts';
import type { Settings } from '../../lib/host/settings.ts';
import { applyDeferred } from './apply-deferred.ts';
import type { DeferredContext } from './context.ts';
import { retireDeferred } from './retire-deferred.ts';

/** Runs after the installation, while a user's manifest waits for its kind. */
export const deferredPlan = (s: Settings): Plan<DeferredContext> => ({
  ...identity('sno-deferred'),
  achieved: 'every deferred manifest is applied',
  steps: [
    {
      ...within(s, 'apiMs', applyDeferred),
      // The step ends at the expiry by the wall clock; this limits it if the clock is set back.
      deadlineMs: (s.deferredExpiryHours + 1) * 3_600_000,
    },
    within(s, 'apiMs', retireDeferred),
  ],
});
