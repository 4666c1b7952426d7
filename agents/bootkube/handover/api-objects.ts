import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError } from '../../../lib/base/errors/failure.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { run } from '../../../lib/host/command.ts';
import type { HostContext } from '../../steps/host-context.ts';

/** Where the log bundle takes the API's objects from once the API is stopped. */
export const objectsFolder = ({ paths }: HostContext) => join(paths.assets, 'gather');

/** Share of the step's time; the rest is for recording a failure. */
const SHARE_OF_TIME = 0.8;

/**
 * Has gather save the API's objects while the API is up: it is stopped a few steps later,
 * before the log bundle is made. A failure is only logged: no installation fails because of its
 * logs.
 */
export const apiObjects: StepBody<HostContext> = {
  name: 'api-objects',
  leaves: 'the API objects as files for the log bundle, as far as the API returns them',
  touches: ['disk', 'api'],
  input: ({ cluster }) => cluster.clusterId,
  // With or without objects: the journal says which.
  holds: async () => true,
  async run(context, progress) {
    try {
      const folder = objectsFolder(context);
      // Left by a killed attempt: gather only writes into an empty folder.
      await rm(folder, { recursive: true, force: true });
      const only = ['gather', '--id', 'bootstrap', '--only', 'resources', '--to', `${folder}/`];
      await run(context.paths.executable, only, {
        signal: progress.signal,
        deadlineMs: Math.round(progress.remainingMs() * SHARE_OF_TIME),
      });
      return done(folder);
    } catch (error) {
      progress.signal.throwIfAborted();
      const reason = describeError(error);
      progress.warn(`The API objects could not be saved: ${reason}`);
      return done(`none: ${reason}`);
    }
  },
};
