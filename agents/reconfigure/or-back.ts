import { orBackBy } from '../../lib/change/or-back.ts';
import { siteChange } from '../../lib/change/site/request.ts';
import type { ReconfigureContext } from './context.ts';

/** A step whose failure takes the configuration of the site back. */
export const siteOrBack = orBackBy<ReconfigureContext>(siteChange);
