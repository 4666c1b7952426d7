import { describeError } from '../../../lib/errors/failure.ts';
import { failureData } from '../../../lib/errors/failure-data.ts';
import { done } from '../../../lib/steps/step.ts';
import type { StepBody } from '../../../lib/steps/within.ts';
import { revertTrial } from '../../../lib/trial/arm.ts';
import { readLast, readTrial } from '../../../lib/trial/store.ts';
import type { UpdateContext } from './context.ts';
import { readRequest, recordFailure } from './request.ts';

const COMMAND_MS = 60_000;

/** Whether the update has failed or is confirmed, so that nothing more is done for it. */
export async function isOver({
  paths,
  request,
}: Pick<UpdateContext, 'paths' | 'request'>): Promise<boolean> {
  if ((await readRequest(paths))?.failure !== undefined) return true;
  if ((await readTrial(paths))?.reverting !== undefined) return true;
  return (await readLast(paths))?.id === request.id;
}

/**
 * A step whose permanent failure does not end the plan. Before the trial nothing has changed, and the failure is
 * recorded; during the trial the host restarts and goes back. An agent that is stopped or killed has not
 * failed, and continues.
 */
export const orBack = (body: StepBody<UpdateContext>): StepBody<UpdateContext> => ({
  ...body,
  retries: true,
  input: ({ request }) => request.id,
  holds: async (context, progress) =>
    (await isOver(context)) || (await body.holds(context, progress)),
  async run(context, progress) {
    if (await isOver(context)) return done('skipped: the update is over');
    return body.run(context, progress);
  },
  async instead({ paths }, failure) {
    const data = failureData(failure);
    if ((await readTrial(paths)) === undefined) {
      await recordFailure(paths, data);
      return `failed, nothing was changed: ${describeError(failure)}`;
    }
    await revertTrial(paths, data, AbortSignal.timeout(COMMAND_MS));
    return `failed, so the host goes back: ${describeError(failure)}`;
  },
});
