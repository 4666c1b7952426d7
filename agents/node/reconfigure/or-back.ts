import { orBackBy } from '../or-back.ts';
import type { ReconfigureContext } from './context.ts';
import { readRequest, recordFailure } from './request.ts';

/** A step whose failure takes the configuration of the site back. */
export const orBack = orBackBy<ReconfigureContext>({ readRequest, recordFailure });
