import { rm } from 'node:fs/promises';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import {
  type FailureData,
  failureData,
  failureFromData,
} from '../../lib/base/errors/failure-data.ts';
import { endedAs, endingOf } from '../../lib/change/ending.ts';
import { siteFolder } from '../../lib/change/site/places.ts';
import {
  type ReconfigureRequest,
  type ReconfigureResult,
  siteChange,
} from '../../lib/change/site/request.ts';
import { done, notYet } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { startUnit } from '../../lib/host/systemd.ts';
import { deferredUnit } from '../../units/installed.ts';
import { describeReconfigure, type ReconfigureContext } from './context.ts';
import { stagedPath } from './credentials.ts';
import { hasHeldBack } from './hold-back.ts';

/** Ends the request, and deletes what the volume carried. After a failure it reports what failed, so that the unit fails. */
export const concludeSite: StepBody<ReconfigureContext> = {
  name: 'conclude',
  leaves: 'nothing of the volume but its result',
  touches: ['disk', 'systemd'],
  retries: true,
  input: ({ request }) => request.id,
  holds: async ({ paths }) => (await siteChange.read(paths)) === undefined,
  async run({ paths, request }, progress) {
    const ending = await endingOf(siteChange, paths, { id: request.id, kept: 'configured' });
    if (ending === undefined) return notYet('the host restarts to go back');
    const { outcome, failure } = ending;
    await rm(stagedPath(paths), { force: true });
    if (outcome === 'configured' && (await hasHeldBack(paths))) {
      // Enabled: if it does not start now, it does at the next boot.
      await startUnit(deferredUnit.name, progress.signal).catch((error: unknown) =>
        progress.warn(`${deferredUnit.name}: ${describeError(error)}`),
      );
    }
    await siteChange.end(paths, endedAs(ending));
    await rm(siteFolder(paths), { recursive: true, force: true });
    if (outcome === 'configured') return done(describeReconfigure(request));
    throw failed(request, outcome, failure);
  },
};

/** Why the host does not have the configuration of its site, for the unit and the console: one instruction. */
function failed(
  request: ReconfigureRequest,
  outcome: Exclude<ReconfigureResult['outcome'], 'configured'>,
  reason: FailureData | undefined,
): Failure {
  const cause = failureFromData(reason ?? failureData(new Failure('fatal', 'no reason is known')));
  const { fix, ...details } = cause.details;
  const found = describeError(new Failure(cause.kind, cause.what, details));
  const what = describeReconfigure(request);
  return new Failure(
    'fatal',
    outcome === 'refused' ? `${what} failed before anything was changed` : `${what} was taken back`,
    {
      code: cause.code,
      found,
      fix: fix ?? 'The host is as it was before. Call support with this text.',
      parts: [cause],
    },
  );
}
