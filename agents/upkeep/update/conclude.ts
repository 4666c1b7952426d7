import { rm } from 'node:fs/promises';
import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import {
  type FailureData,
  failureData,
  failureFromData,
  failureSentence,
} from '../../../lib/base/errors/failure-data.ts';
import { minorOf } from '../../../lib/base/minor.ts';
import { endedAs, endingOf } from '../../../lib/change/ending.ts';
import {
  type UpdateRequest,
  type UpdateResult,
  updateChange,
} from '../../../lib/change/update/request.ts';
import { writeTaken } from '../../../lib/change/update/taken.ts';
import { done, notYet } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { describeUpdate, type UpdatedHost } from './context.ts';
import { nextFolder, preparedPath } from './places.ts';

/** Ends the request. After a failure it reports what failed, so that the unit fails. */
export const concludeUpdate: StepBody<UpdatedHost> = {
  name: 'conclude',
  leaves: 'no update under way, and the result of this one',
  touches: ['disk'],
  retries: true,
  input: ({ request }) => request.id,
  holds: async ({ paths }) => (await updateChange.read(paths)) === undefined,
  async run({ paths, request }) {
    const ending = await endingOf(updateChange, paths, { id: request.id, kept: 'updated' });
    if (ending === undefined) return notYet('the host restarts to go back');
    const { outcome, failure } = ending;
    const left = (await updateChange.read(paths))?.failure;
    await rm(nextFolder(paths), { recursive: true, force: true });
    await rm(preparedPath(paths), { force: true });
    if (outcome === 'updated') await writeTaken(paths, request.manifest.serial);
    await updateChange.end(paths, endedAs(ending));
    if (outcome !== 'updated') throw failed(request, outcome, failure, left);
    if (left === undefined) return done(describeUpdate(request));
    throw stillEmulates(request, left);
  },
};

/** Why an update is not in use, for the unit and for the person who requested it. */
export function failed(
  request: UpdateRequest,
  outcome: Exclude<UpdateResult['outcome'], 'updated'>,
  reason: FailureData | undefined,
  left?: FailureData,
): Failure {
  const cause = failureFromData(reason ?? failureData(new Failure('fatal', 'no reason is known')));
  const what = describeUpdate(request);
  if (outcome === 'refused') {
    return new Failure('fatal', `${what} failed before anything was changed`, {
      code: 'update-refused',
      found: describeError(cause),
      parts: [cause],
    });
  }
  return new Failure('fatal', `${what} was taken back`, {
    code: 'update-reverted',
    expected: 'a host that settles with it',
    found: describeError(cause),
    fix:
      left === undefined
        ? 'The host is as it was before. Remove the cause, and run "sno-update run" again.'
        : `The host is as it was before, except for its add-ons (${failureSentence(left)}). Restore the backup that was made for the update, see "sno-backup list", or run "sno-update run" again.`,
    parts: [cause, ...(left === undefined ? [] : [failureFromData(left)])],
  });
}

/** The update is in use; what remains is to end the emulation of the earlier minor version. */
export function stillEmulates(request: UpdateRequest, reason: FailureData): Failure {
  const cause = failureFromData(reason);
  const before = minorOf(request.before?.kubernetes ?? '') ?? 'the version before';
  return new Failure(
    'fatal',
    `${describeUpdate(request)} is in use, but still emulates ${before}`,
    {
      code: 'update-emulates',
      expected: `a control plane that is steady without --emulated-version`,
      found: describeError(cause),
      fix: 'Remove the cause, and run "sno-update run" with the same update again.',
      parts: [cause],
    },
  );
}
