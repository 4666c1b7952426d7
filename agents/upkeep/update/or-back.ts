import { type ChangeStep, orBackBy } from '../../../lib/change/or-back.ts';
import { updateChange } from '../../../lib/change/update/request.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import type { UpdatedHost } from './context.ts';

/** A step whose failure takes the update back. */
export const updateOrBack = <Context extends UpdatedHost>(
  body: ChangeStep<Context>,
): StepBody<Context> => orBackBy<Context>(updateChange)(body);
