import { identity } from '../../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../../lib/engine/steps/step.ts';
import { within } from '../../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../../lib/host/settings.ts';
import { armUpdate } from '../arm.ts';
import { concludeUpdate } from '../conclude.ts';
import { confirmUpdate } from '../confirm.ts';
import type { UpdatedHost } from '../context.ts';
import { updateOrBack } from '../or-back.ts';
import { prepare } from '../prepare.ts';
import { stageUpdate } from '../stage.ts';
import { switchOver } from '../switch.ts';
import { settleWorker } from './settle.ts';

/** The same on a worker: no database, no control plane and no add-ons are its own. */
export const workerUpdatePlan = (s: Settings): Plan<UpdatedHost> => ({
  ...identity('sno-update'),
  achieved: 'the worker runs the update, and is steady',
  steps: [
    within(s, 'updateStageMs', updateOrBack(stageUpdate)),
    within(s, 'updatePrepareMs', updateOrBack(prepare)),
    within(s, 'finishMs', updateOrBack(armUpdate)),
    within(s, 'updateSwitchMs', updateOrBack(switchOver)),
    within(s, 'updateSettleMs', updateOrBack(settleWorker)),
    within(s, 'finishMs', updateOrBack(confirmUpdate)),
    within(s, 'finishMs', concludeUpdate),
  ],
});
