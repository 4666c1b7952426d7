import { EXIT } from '../../lib/base/errors/exit-codes.ts';
import { Failure } from '../../lib/base/errors/failure.ts';
import { failureFromData } from '../../lib/base/errors/failure-data.ts';
import { statusPath } from '../../lib/engine/steps/reporter.ts';
import { readStatus } from '../../lib/engine/steps/status.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists } from '../../lib/host/files.ts';
import { waitForFiles } from '../../lib/host/watch.ts';
import type { HostContext } from '../steps/host-context.ts';

/** Waits for bootkube's marker; ends immediately if bootkube has failed permanently. */
export const waitForBootkube: StepBody<HostContext> = {
  name: 'wait-for-bootkube',
  leaves: '/opt/openshift/.bootkube.done and /opt/openshift/master.ign, made by bootkube',
  touches: ['disk'],
  input: ({ cluster }) => cluster.clusterId,
  holds: async ({ paths }) =>
    (await exists(paths.bootkubeDone)) && (await exists(paths.masterIgnition)),
  async run({ paths }, progress) {
    const status = statusPath(paths, 'bootkube');
    const finished = async () => {
      if (await exists(paths.bootkubeDone)) return true;
      await throwIfFailed(status);
      return false;
    };
    await progress.wait('bootkube to finish', () =>
      waitForFiles([paths.bootkubeDone, status], finished, {
        signal: progress.signal,
        deadlineMs: progress.remainingMs(),
        describe: () => 'bootkube to finish',
      }),
    );
    return done();
  },
};

/**
 * Reads bootkube's status file.
 * @throws Failure `fatal` if bootkube has failed permanently.
 */
export async function throwIfFailed(path: string): Promise<void> {
  const status = await readStatus(path);
  if (status?.state !== 'failed' || status.exitCode === EXIT.retryable) return;
  throw new Failure('fatal', 'bootkube failed permanently, so there is nothing to install', {
    code: 'bootkube-failed',
    found: status.reason ?? 'no reason given',
    cause: status.failure === undefined ? undefined : failureFromData(status.failure),
    tellsCause: true,
    fix: 'See "journalctl -u bootkube"; once it is fixed, start bootkube.service and install-to-disk.service again.',
  });
}
