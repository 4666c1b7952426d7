import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { BackupContext } from '../../steps/backup/context.ts';
import { create } from '../../steps/backup/create.ts';
import { prune } from './prune.ts';

/** Once a day, while the control plane runs. */
export const backupPlan = (s: Settings): Plan<BackupContext> => ({
  ...identity('sno-backup'),
  achieved: 'a new backup is complete',
  steps: [within(s, 'backupMs', create), within(s, 'finishMs', prune)],
});
