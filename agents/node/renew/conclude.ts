import { describeError, Failure } from '../../../lib/errors/failure.ts';
import { type FailureData, failureFromData } from '../../../lib/errors/failure-data.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { done } from '../../../lib/steps/step.ts';
import type { StepBody } from '../../../lib/steps/within.ts';
import { readAttempts } from './attempts.ts';
import type { RenewContext } from './context.ts';

/** Fails with everything that the steps before could not renew, so that the unit fails. */
export const conclude: StepBody<RenewContext> = {
  name: 'conclude',
  leaves: 'no certificate whose last renewal failed',
  input: () => [],
  holds: async ({ paths }) => (await failed(paths)).length === 0,
  async run({ paths }) {
    const failures = await failed(paths);
    if (failures.length === 0) return done();
    throw new Failure(
      'fatal',
      `${failures.map(({ name }) => name).join(', ')} could not be renewed`,
      {
        code: 'renewal-failed',
        found: failures.map(({ failure }) => describeError(failureFromData(failure))).join('; '),
        fix: 'Fix the cause, then run "systemctl start sno-renew": otherwise the next attempt is tomorrow.',
        parts: failures.map(({ failure }) => failureFromData(failure)),
      },
    );
  },
};

async function failed(paths: HostPaths): Promise<{ name: string; failure: FailureData }[]> {
  return (await readAttempts(paths)).flatMap(({ name, failure }) =>
    failure === undefined ? [] : [{ name, failure }],
  );
}
