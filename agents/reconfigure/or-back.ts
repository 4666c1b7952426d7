import { type ChangeStep, orBackBy } from '../../lib/change/or-back.ts';
import { siteChange } from '../../lib/change/site/request.ts';
import type { ReconfigureContext } from './context.ts';

/** A step before it knows what is done about its failure. */
export type SiteStep = ChangeStep<ReconfigureContext>;

/** A step whose failure takes the configuration of the site back. */
export const siteOrBack = orBackBy<ReconfigureContext>(siteChange);
