import { rm, stat } from 'node:fs/promises';
import { describeError } from '../../../lib/errors/failure.ts';
import { run } from '../../../lib/host/command.ts';
import { done } from '../../../lib/steps/step.ts';
import type { StepBody } from '../../../lib/steps/within.ts';
import type { HostContext } from '../../steps/host-context.ts';

/** Where sno-gather.service leaves it, and where the installed host has it. */
export const BUNDLE_PATH = '/var/log/log-bundle-bootstrap.tar.gz';

export const bundlePath = ({ paths }: HostContext) => paths.at(BUNDLE_PATH);

/** Of the time that the step has; the rest is for saying that there is no bundle. */
const SHARE_OF_TIME = 0.8;

/**
 * Has gather make the bundle of this host, in a unit of its own: what it reads is
 * outside this agent's sandbox. A bundle that cannot be made is a warning: no
 * installation fails because of its logs.
 */
export const logBundle: StepBody<HostContext> = {
  name: 'log-bundle',
  leaves: `${BUNDLE_PATH} (0600), if it can be created`,
  input: ({ cluster }) => cluster.clusterId,
  // With or without a bundle: the journal says which.
  holds: async () => true,
  async run(context, progress) {
    const path = bundlePath(context);
    try {
      // One of an earlier failure must not be taken for this one.
      await rm(path, { force: true });
      await progress.wait('sno-gather.service to create the log bundle', () =>
        // It returns when the unit, a oneshot, has ended.
        run('systemctl', ['start', 'sno-gather.service'], {
          signal: progress.signal,
          deadlineMs: Math.round(progress.remainingMs() * SHARE_OF_TIME),
        }),
      );
      const { size } = await stat(path);
      return done(`${Math.ceil(size / 1024)} KiB`);
    } catch (error) {
      progress.signal.throwIfAborted();
      const reason = describeError(error);
      progress.warn(`There will be no log bundle: ${reason}`);
      return done(`not made: ${reason}`);
    }
  },
};
