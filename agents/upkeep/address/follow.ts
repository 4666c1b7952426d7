import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { describeError } from '../../../lib/base/errors/failure.ts';
import { beginChange, changeUnderWay, isOtherChange } from '../../../lib/change/exclusion.ts';
import { differences, type Identity } from '../../../lib/change/identity/identity.ts';
import type { AddressVerdict } from '../../../lib/change/identity/moved-address.ts';
import { presentIdentity } from '../../../lib/change/identity/present-identity.ts';
import { identityChange, requestIdentity } from '../../../lib/change/identity/request.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done, notYet, type Outcome } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { readTrial } from '../../../lib/engine/trial/store.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { startUnit } from '../../../lib/host/systemd.ts';
import { type AddressContext, judgeHost } from './context.ts';
import { IDENTITY_UNIT, isWithdrawn } from './earlier.ts';
import { notFollowed, tooOften, unclear } from './not-followed.ts';
import { readState, updateState } from './state.ts';

const DAY_MS = 24 * 60 * 60_000;

/**
 * Requests a change of the identity if the host has another address, and following it is configured and possible. Otherwise
 * nothing is changed, and the step fails with both addresses: the kubelet keeps running, but registers no address that
 * it does not have.
 */
export const follow: StepBody<AddressContext> = {
  name: 'follow',
  leaves: 'a host with the addresses of its Node, or a request for the change to those that it has',
  touches: ['disk', 'clock', 'systemd'],
  retries: true,
  input: ({ run }) => run,
  holds: async (context, { signal }) => (await judgeHost(context, signal)).kind === 'kept',
  async run(context, progress) {
    const { paths } = context;
    const verdict = await stableVerdict(context, progress);
    if (verdict === undefined) return notYet('the addresses change');
    if (verdict.kind === 'kept') {
      // It may have been written without being started.
      const begun = (await identityChange.read(paths))?.isFollowing === true;
      if (begun) await startUnit(IDENTITY_UNIT, progress.signal);
      const registered = Object.keys(verdict.interfaces).join(', ');
      const last = { registered, found: registered, isMoved: false };
      await updateState(paths, { interfaces: verdict.interfaces, last });
      return done(registered);
    }
    const identity = await presentIdentity(paths);
    const registered = identity.nodeIps.join(', ');
    const found = verdict.kind === 'moved' ? verdict.to.nodeIps.join(', ') : verdict.found;
    await updateState(paths, { last: { registered, found, isMoved: true } });
    if (verdict.kind === 'unclear') throw unclear(identity, verdict);
    if (context.cluster.onAddressChange !== 'follow') throw notFollowed(identity, verdict.to);
    return request(context, verdict.to, progress);
  },
};

/** Undefined if it was another one before the pause. An address that is there needs none. */
async function stableVerdict(
  context: AddressContext,
  progress: Progress,
): Promise<AddressVerdict | undefined> {
  const { signal } = progress;
  const before = await judgeHost(context, signal);
  if (before.kind === 'kept') return before;
  await progress.wait('the addresses to stay as they are', () =>
    sleep(context.settings.addressStableMs, undefined, { signal }),
  );
  const after = await judgeHost(context, signal);
  return isDeepStrictEqual(before, after) ? after : undefined;
}

/** From whatever the host is now: an earlier change that was begun the same way has ended, or is given up. */
async function request(
  { paths, settings }: AddressContext,
  to: Identity,
  { signal }: Progress,
): Promise<Outcome> {
  const other = await otherChange(paths);
  if (other !== undefined) return notYet(other);
  const earlier = await identityChange.read(paths);
  if (earlier !== undefined && !(await isWithdrawn(paths, earlier, signal))) {
    return notYet(
      `a change of the identity is under way (${differences(earlier.from, earlier.to).join('; ')})`,
    );
  }
  const from = await presentIdentity(paths);
  const changes = differences(from, to);
  if (changes.length === 0) return done('it is back');
  const now = new Date();
  const recent = await followedRecently(paths, now);
  if (recent.length >= settings.addressFollowsCount) throw tooOften(from, to, recent.length);
  try {
    await beginChange(paths, async () => {
      await updateState(paths, {
        followed: [...recent, now.toISOString()],
        last: { registered: to.nodeIps.join(', '), found: to.nodeIps.join(', '), isMoved: false },
      });
      await requestIdentity(paths, { from, to, isFollowing: true });
    });
  } catch (error) {
    if (isOtherChange(error)) return notYet(describeError(error));
    throw error;
  }
  await startUnit(IDENTITY_UNIT, signal);
  return done(changes.join('; '));
}

/** Of those that a clock dated in the future, the day begins now: otherwise they would be recent until that date. */
async function followedRecently(paths: HostPaths, now: Date): Promise<string[]> {
  const { followed } = await readState(paths);
  const known = followed.map((at) => (Date.parse(at) > now.getTime() ? now.toISOString() : at));
  if (!isDeepStrictEqual(known, followed)) await updateState(paths, { followed: known });
  return known.filter((at) => now.getTime() - Date.parse(at) < DAY_MS);
}

/** What must end before; a change on trial may have moved the address itself. */
async function otherChange(paths: HostPaths): Promise<string | undefined> {
  const trial = await readTrial(paths);
  if (trial !== undefined) return `${trial.what} is on trial`;
  const underWay = await changeUnderWay(paths, 'identity');
  return underWay?.what;
}
