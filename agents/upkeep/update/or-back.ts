import { orBackBy } from '../../../lib/change/or-back.ts';
import { updateChange } from '../../../lib/change/update/request.ts';
import type { UpdateContext } from './context.ts';

/** A step whose failure takes the update back. */
export const updateOrBack = orBackBy<UpdateContext>(updateChange);
