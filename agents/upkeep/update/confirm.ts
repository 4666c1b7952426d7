import type { ChangeStep } from '../../../lib/change/or-back.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import { confirmTrial } from '../../../lib/engine/trial/arm.ts';
import { readLast } from '../../../lib/engine/trial/store.ts';
import type { UpdatedHost } from './context.ts';

/** Ends the trial: the host no longer goes back. */
export const confirmUpdate: ChangeStep<UpdatedHost> = {
  name: 'confirm',
  leaves: 'an update that stays; nothing is kept of what was before it',
  touches: ['disk', 'systemd'],
  holds: async ({ paths, request }) => (await readLast(paths))?.id === request.id,
  async run({ paths }, { signal }) {
    await confirmTrial(paths, signal);
    return done();
  },
};
