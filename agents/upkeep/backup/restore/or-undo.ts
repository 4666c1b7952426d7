import { describeError } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import { recordFailure } from '../../../../lib/change/change.ts';
import { restoreChange } from '../../../../lib/change/restore/request.ts';
import { done } from '../../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import type { RestoreContext } from '../../../steps/restore/context.ts';

/** Whether the restore has failed, so that it is being undone. */
export const hasFailed = async ({ paths }: Pick<RestoreContext, 'paths'>): Promise<boolean> =>
  (await restoreChange.read(paths))?.failure !== undefined;

/**
 * A step whose permanent failure does not end the plan but is recorded: the steps after it are
 * skipped until `undo`, so that the host never stays without a control plane. An agent that is
 * stopped or killed records nothing, and continues the restore when it starts again.
 */
export const orUndo = (body: StepBody<RestoreContext>): StepBody<RestoreContext> => ({
  ...body,
  retries: true,
  holds: async (context, progress) =>
    (await hasFailed(context)) || (await body.holds(context, progress)),
  async run(context, progress) {
    if (await hasFailed(context)) return done('skipped: the restore has failed');
    return body.run(context, progress);
  },
  async instead({ paths }, failure) {
    await recordFailure(restoreChange, paths, failureData(failure));
    return `failed, so the restore is undone: ${describeError(failure)}`;
  },
});
