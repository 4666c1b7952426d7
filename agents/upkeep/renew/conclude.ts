import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { type FailureData, failureFromData } from '../../../lib/base/errors/failure-data.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import type { RenewContext } from '../../steps/certificates/context.ts';
import { readAttempts } from './attempts.ts';

/** Fails with everything that the steps before could not renew, so that the unit fails. */
export const concludeRenewal: StepBody<RenewContext> = {
  name: 'conclude',
  leaves: 'no certificate whose last renewal failed',
  touches: ['disk'],
  input: ({ run }) => run,
  holds: async ({ paths }) => (await failed(paths)).length === 0,
  async run({ paths }) {
    const failures = await failed(paths);
    if (failures.length === 0) return done();
    throw new Failure('fatal', summary(failures), {
      code: 'renewal-failed',
      found: failures.map(({ failure }) => describeError(failureFromData(failure))).join('; '),
      fix: 'Fix the cause, then run "systemctl start sno-renew": otherwise the next attempt is tomorrow.',
      parts: failures.map(({ failure }) => failureFromData(failure)),
    });
  },
};

interface FailedAttempt {
  readonly name: string;
  readonly failure: FailureData;
}

function summary(failures: readonly FailedAttempt[]): string {
  const isTrust = ({ failure }: FailedAttempt) => failure.code === 'laptop-ca-trusted';
  const names = failures.filter((each) => !isTrust(each)).map(({ name }) => name);
  return [
    ...(names.length === 0 ? [] : [`${names.join(', ')} could not be renewed`]),
    ...(failures.some(isTrust) ? ["the laptop's CA is still trusted"] : []),
  ].join('; ');
}

async function failed(paths: HostPaths): Promise<FailedAttempt[]> {
  return (await readAttempts(paths)).flatMap(({ name, failure }) =>
    failure === undefined ? [] : [{ name, failure }],
  );
}
