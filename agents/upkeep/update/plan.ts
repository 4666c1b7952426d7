import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import { arm } from './arm.ts';
import { backup } from './backup.ts';
import { conclude } from './conclude.ts';
import { confirm } from './confirm.ts';
import type { UpdateContext } from './context.ts';
import { orBack } from './or-back.ts';
import { prepare } from './prepare.ts';
import { settle } from './settle.ts';
import { stage } from './stage.ts';
import { switchOver } from './switch.ts';

/**
 * On request, also across restarts of the host. What fails before `arm` has changed nothing; what fails
 * afterwards is taken back by sno-trial.
 */
export const updatePlan = (s: Settings): Plan<UpdateContext> => ({
  ...identity('sno-update'),
  achieved: 'the host runs the update, and is steady',
  steps: [
    within(s, 'updateStageMs', orBack(stage)),
    within(s, 'updatePrepareMs', orBack(prepare)),
    within(s, 'backupMs', orBack(backup)),
    within(s, 'finishMs', orBack(arm)),
    within(s, 'updateSwitchMs', orBack(switchOver)),
    within(s, 'updateSettleMs', orBack(settle)),
    within(s, 'finishMs', orBack(confirm)),
    // If the host goes back: until it has restarted, which may wait for workloads to end.
    within(s, 'updateTrialMs', conclude),
  ],
});
