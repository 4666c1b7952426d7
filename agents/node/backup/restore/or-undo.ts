import { describeError } from '../../../../lib/errors/failure.ts';
import { failureData } from '../../../../lib/errors/failure-data.ts';
import { asFailure } from '../../../../lib/errors/unexpected.ts';
import type { Progress } from '../../../../lib/steps/progress.ts';
import { done } from '../../../../lib/steps/step.ts';
import type { StepBody } from '../../../../lib/steps/within.ts';
import type { RestoreContext } from './context.ts';
import { readRequest, recordFailure } from './request.ts';

/** Whether the restore has failed, so that it is being undone. */
export const hasFailed = async ({ paths }: Pick<RestoreContext, 'paths'>): Promise<boolean> =>
  (await readRequest(paths))?.failure !== undefined;

/**
 * A step whose permanent failure does not end the plan but is recorded: the steps after it are
 * skipped until `undo`, so that the host never stays without a control plane.
 */
export const orUndo = (body: StepBody<RestoreContext>): StepBody<RestoreContext> => ({
  ...body,
  retries: true,
  input: ({ request }) => request,
  holds: async (context, progress) =>
    (await hasFailed(context)) || (await body.holds(context, progress)),
  async run(context, progress) {
    if (await hasFailed(context)) return done('skipped: the restore has failed');
    try {
      return await body.run(context, progress);
    } catch (error) {
      if (isOpen(error, progress)) throw error;
      await recordFailure(context.paths, failureData(error));
      return done(`failed, so the restore is undone: ${describeError(error)}`);
    }
  },
});

/** The agent was told to stop, or a retry can help and there is time for one. */
function isOpen(error: unknown, progress: Progress): boolean {
  const canHelp = progress.signal.aborted || asFailure(error).kind === 'retry';
  return canHelp && progress.remainingMs() > 0;
}
