import { identity } from '../../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../../lib/engine/steps/step.ts';
import { type StepBody, until, within } from '../../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../../lib/host/settings.ts';
import type { RestoreContext } from '../../../steps/restore/context.ts';
import { rebuild } from '../../../steps/restore/rebuild.ts';
import { replace } from '../../../steps/restore/replace.ts';
import { steadyState } from '../../../steps/steady-state.ts';
import { concludeRestore } from './conclude.ts';
import { orUndo } from './or-undo.ts';
import { startRestored } from './start.ts';
import { stopForRestore } from './stop.ts';
import { undo } from './undo.ts';

/** After each restore again. */
const settled: StepBody<RestoreContext> = {
  ...steadyState('sno-backup-restore'),
  input: ({ request }) => request,
};

/**
 * On request, also across restarts of the host. What fails before `undo` is recorded, undone there
 * and reported by the last step.
 */
export const backupRestorePlan = (s: Settings): Plan<RestoreContext> => ({
  ...identity('sno-backup-restore'),
  achieved: 'the backup is restored and the control plane is in its steady state',
  steps: [
    within(s, 'restoreRebuildMs', orUndo(rebuild)),
    within(s, 'restoreStopMs', orUndo(stopForRestore)),
    within(s, 'restoreReplaceMs', orUndo(replace)),
    within(s, 'restoreStartMs', orUndo(startRestored)),
    within(s, 'restoreSettleMs', orUndo(until('conclude', settled))),
    within(s, 'restoreUndoMs', undo),
    within(s, 'finishMs', concludeRestore),
  ],
});
