import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { PushContext } from './context.ts';
import { push } from './push.ts';

/** After each backup, and from time to time for what was not stored. */
export const backupPushPlan = (s: Settings): Plan<PushContext> => ({
  ...identity('sno-backup-push'),
  achieved: 'the newest backup is stored elsewhere',
  steps: [within(s, 'backupPushMs', push)],
});
