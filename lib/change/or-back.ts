import { describeError } from '../base/errors/failure.ts';
import { failureData } from '../base/errors/failure-data.ts';
import { done } from '../engine/steps/step.ts';
import type { StepBody } from '../engine/steps/within.ts';
import { revertTrial } from '../engine/trial/arm.ts';
import { readLast, readTrial } from '../engine/trial/store.ts';
import type { HostPaths } from '../host/paths.ts';
import { type CanFail, type Change, recordFailure } from './change.ts';

const COMMAND_MS = 60_000;

interface OnRequest {
  readonly paths: HostPaths;
  /** The id is that of its trial, too. */
  readonly request: { readonly id: string };
}

/** A step of a change: for all of them alike, it is done for one request, and tried again. */
export type ChangeStep<Context> = Omit<StepBody<Context>, 'input' | 'retries'>;

/**
 * Makes the steps of a change such that a permanent failure does not end the plan. Before the trial nothing has
 * changed, and the failure is recorded; during the trial the host restarts and goes back. An agent that is stopped or
 * killed has not failed, and continues.
 */
export const orBackBy =
  <Context extends OnRequest>(change: Pick<Change<CanFail, unknown>, 'read' | 'write'>) =>
  (body: ChangeStep<Context>): StepBody<Context> => {
    /** Whether it has failed or is confirmed, so that nothing more is done for it. */
    const isOver = async ({ paths, request }: Context): Promise<boolean> => {
      if ((await change.read(paths))?.failure !== undefined) return true;
      if ((await readTrial(paths))?.reverting !== undefined) return true;
      return (await readLast(paths))?.id === request.id;
    };
    return {
      ...body,
      retries: true,
      input: ({ request }) => request.id,
      holds: async (context, progress) =>
        (await isOver(context)) || (await body.holds(context, progress)),
      async run(context, progress) {
        if (await isOver(context)) return done('skipped: it is over');
        return body.run(context, progress);
      },
      async instead({ paths }, failure) {
        const data = failureData(failure);
        if ((await readTrial(paths)) === undefined) {
          await recordFailure(change, paths, data);
          return `failed, nothing was changed: ${describeError(failure)}`;
        }
        await revertTrial(paths, data, AbortSignal.timeout(COMMAND_MS));
        return `failed, so the host goes back: ${describeError(failure)}`;
      },
    };
  };
