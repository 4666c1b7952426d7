import { rm, stat } from 'node:fs/promises';
import { describeError } from '../../../lib/base/errors/failure.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { run } from '../../../lib/host/command.ts';
import type { HostContext } from '../../steps/host-context.ts';

/** Where sno-gather.service writes it, and its path on the installed host. */
export const BUNDLE_PATH = '/var/log/log-bundle-bootstrap.tar.gz';

export const bundlePath = ({ paths }: HostContext) => paths.at(BUNDLE_PATH);

/** Share of the step's time; the rest is for recording that there is no bundle. */
const SHARE_OF_TIME = 0.8;

/**
 * Has gather make the bundle of this host in its own unit, since it reads outside this agent's
 * sandbox. A failure is only a warning: no installation fails because of its logs.
 */
export const logBundle: StepBody<HostContext> = {
  name: 'log-bundle',
  leaves: `${BUNDLE_PATH} (0600), if it can be created`,
  touches: ['disk', 'systemd'],
  input: ({ cluster }) => cluster.clusterId,
  // With or without a bundle: the journal says which.
  holds: async () => true,
  async run(context, progress) {
    const path = bundlePath(context);
    try {
      // One from an earlier failure must not be mistaken for this one.
      await rm(path, { force: true });
      await progress.wait('sno-gather.service to create the log bundle', () =>
        // Returns when the oneshot unit has finished.
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
