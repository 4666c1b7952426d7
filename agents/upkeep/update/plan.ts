import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import { addOnsBack } from './add-ons-back.ts';
import { armUpdate } from './arm.ts';
import { backup } from './backup.ts';
import { concludeUpdate } from './conclude.ts';
import { confirmUpdate } from './confirm.ts';
import type { UpdateContext } from './context.ts';
import { endEmulation } from './emulation.ts';
import { updateOrBack } from './or-back.ts';
import { prepare } from './prepare.ts';
import { settleUpdate } from './settle.ts';
import { stageUpdate } from './stage.ts';
import { switchOver } from './switch.ts';

/**
 * On request, also across restarts of the host. What fails before `arm` has changed nothing; what fails
 * afterwards is taken back by sno-trial. What fails after `confirm` is only said.
 */
export const updatePlan = (s: Settings): Plan<UpdateContext> => ({
  ...identity('sno-update'),
  achieved: 'the host runs the update, and is steady',
  steps: [
    within(s, 'updateStageMs', updateOrBack(stageUpdate)),
    within(s, 'updatePrepareMs', updateOrBack(prepare)),
    within(s, 'backupMs', updateOrBack(backup)),
    within(s, 'finishMs', updateOrBack(armUpdate)),
    within(s, 'updateSwitchMs', updateOrBack(switchOver)),
    within(s, 'updateSettleMs', updateOrBack(settleUpdate)),
    within(s, 'finishMs', updateOrBack(confirmUpdate)),
    // Not before: the flag is what the way back relies on.
    within(s, 'updateSettleMs', endEmulation),
    // If the host goes back: until it has restarted, which may wait for workloads to end.
    within(s, 'updateTrialMs', addOnsBack),
    within(s, 'finishMs', concludeUpdate),
  ],
});
