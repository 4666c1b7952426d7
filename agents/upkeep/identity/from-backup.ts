import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import type { RestoreContext } from '../../steps/restore/context.ts';
import type { IdentityContext } from './context.ts';

/** A step of a restore in a change of the identity; without a backup it does nothing. */
export const fromBackup = (
  body: StepBody<RestoreContext>,
  neededUntil: string,
): StepBody<IdentityContext> => ({
  name: body.name,
  leaves: body.leaves,
  touches: body.touches,
  neededUntil,
  retries: true,
  input: ({ request }) => request.id,
  async holds(context, progress) {
    const restoring = restoringOf(context);
    return restoring === undefined || (await body.holds(restoring, progress));
  },
  async run(context, progress) {
    const restoring = restoringOf(context);
    return restoring === undefined ? done('not needed') : body.run(restoring, progress);
  },
});

/** The same host as the steps of a restore see it; undefined if no backup is restored. */
export function restoringOf(context: IdentityContext): RestoreContext | undefined {
  const { backup, at } = context.request;
  return backup === undefined ? undefined : { ...context, request: { backup, requestedAt: at } };
}
