import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { confirmTrial } from '../../../lib/engine/trial/arm.ts';
import { readLast } from '../../../lib/engine/trial/store.ts';
import type { UpdatedHost } from './context.ts';

/** Ends the trial: the host no longer goes back. */
export const confirmUpdate: StepBody<UpdatedHost> = {
  name: 'confirm',
  leaves: 'an update that stays; nothing is kept of what was before it',
  touches: ['disk', 'systemd'],
  input: ({ request }) => request.id,
  holds: async ({ paths, request }) => (await readLast(paths))?.id === request.id,
  async run({ paths }, { signal }) {
    await confirmTrial(paths, signal);
    return done();
  },
};
