import { LONGEST_DAYS } from '../../../lib/cluster/workers/entry.ts';
import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { PlainHost } from '../../steps/host-context.ts';
import { approveWorkers } from './approve-workers.ts';

const DAY_MS = 86_400_000;

/** Runs while a worker of the list is expected. */
export const approvePlan = (s: Settings): Plan<PlainHost> => ({
  ...identity('sno-approve'),
  achieved: 'no worker is expected',
  steps: [
    {
      ...approveWorkers,
      retry: { delayMs: s.retryMs },
      // It ends with the last entry, by the wall clock; this limits it if the clock is set back.
      deadlineMs: (LONGEST_DAYS + 1) * DAY_MS,
    },
  ],
});
