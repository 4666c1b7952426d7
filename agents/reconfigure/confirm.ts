import { beforeFolder } from '../../lib/change/site/places.ts';
import { done } from '../../lib/engine/steps/step.ts';
import { confirmTrial } from '../../lib/engine/trial/arm.ts';
import { keepTrial } from '../../lib/engine/trial/kept.ts';
import { readLast } from '../../lib/engine/trial/store.ts';
import type { SiteStep } from './or-back.ts';

/** Ends the trial. What the host had before is kept for "reconfigure rollback". */
export const confirmSite: SiteStep = {
  name: 'confirm',
  leaves: 'a configuration that stays, and a way back on request',
  touches: ['disk'],
  holds: async ({ paths, request }) => (await readLast(paths))?.id === request.id,
  async run({ paths }, { signal }) {
    await keepTrial(paths, beforeFolder(paths), signal);
    await confirmTrial(paths, signal);
    return done();
  },
};
