import { identity } from '../../../lib/agents/table.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { Plan } from '../../../lib/steps/step.ts';
import { within } from '../../../lib/steps/within.ts';
import type { BackupContext } from './context.ts';
import { create } from './create.ts';
import { prune } from './prune.ts';

/** Once a day, while the control plane runs. */
export const backupPlan = (s: Settings): Plan<BackupContext> => ({
  ...identity('sno-backup'),
  achieved: 'a new backup is complete',
  steps: [within(s, 'backupMs', create), within(s, 'finishMs', prune)],
});
