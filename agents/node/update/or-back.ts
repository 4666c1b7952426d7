import { orBackBy } from '../or-back.ts';
import type { UpdateContext } from './context.ts';
import { readRequest, recordFailure } from './request.ts';

/** A step whose failure takes the update back. */
export const orBack = orBackBy<UpdateContext>({ readRequest, recordFailure });
