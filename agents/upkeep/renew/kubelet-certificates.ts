import { Failure } from '../../../lib/base/errors/failure.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { run } from '../../../lib/host/command.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { restartUnit } from '../../../lib/host/systemd.ts';
import { kubeletLeaves } from '../../../lib/render/kubernetes/leaves.ts';
import type { RenewContext } from '../../steps/certificates/context.ts';
import { isUsable, type LeafOnDisk, leavesOnDisk, notSigned } from '../../steps/leaf-files.ts';
import { signAllExpired } from '../../steps/sign-expired.ts';
import { attempted, readAttempts, recordRestartDue } from './attempts.ts';

const NAME = 'kubelet-certificates';
const KUBELET = 'kubelet.service';

/** The API server accepts tokens that are this early (go-jose, jwt.DefaultLeeway). */
const LEEWAY_MS = 60_000;

/**
 * Ends what a wrong clock left in the kubelet. The kubelet rotates its certificates by itself, but does not
 * replace one that is not valid yet, and does not start with an expired client certificate. Tokens
 * that it got for pods while the clock was fast are refused afterwards, and it keeps them in memory
 * until they are about to expire. A restart of the kubelet does not stop containers.
 *
 * Late in the plan: at a boot, the clock is often set while an earlier step waits for the API.
 */
export const kubeletCertificates: StepBody<RenewContext> = {
  name: NAME,
  leaves: 'a kubelet with valid certificates, and without tokens from the future',
  touches: ['disk', 'systemd', 'clock'],
  input: ({ run }) => run,
  async holds({ paths, run: id }) {
    return (await readAttempts(paths)).some((last) => last.name === NAME && last.run === id);
  },
  run: (context, progress) =>
    attempted(context, NAME, () => corrected(context, progress), progress),
};

/** Returns what was found, for the journal. */
async function corrected({ paths }: RenewContext, progress: Progress): Promise<string> {
  const now = new Date();
  const last = await lastRun(paths);
  const isSetBack = wasSetBack([last.at, await kubeletStart(progress.signal)], now);
  if (isSetBack) {
    progress.warn('The clock was set back: restarting the kubelet, which requests new tokens');
  }
  const invalid = (await leavesOnDisk(paths, kubeletLeaves)).filter(
    ({ pem }) => !isUsable(pem, now),
  );
  if (invalid.length > 0) await recordRestartDue(paths, NAME);
  let failure: Failure | undefined;
  let isRestartDue = isSetBack || last.restartDue;
  for (const found of invalid) {
    const error = await signingFailure(paths, found, now);
    failure ??= error;
    if (error !== undefined) continue;
    isRestartDue = true;
    progress.warn(`Signed ${found.leaf.name} again, which was not valid at ${now.toISOString()}`);
  }
  if (isRestartDue) {
    await progress.wait('the kubelet to start', () => restartUnit(KUBELET, progress.signal));
  }
  if (failure !== undefined) throw failure;
  return isRestartDue ? 'restarted the kubelet' : 'none to correct';
}

/** Signs a certificate again; why it could not be. */
async function signingFailure(
  paths: HostPaths,
  found: LeafOnDisk,
  now: Date,
): Promise<Failure | undefined> {
  try {
    await signAllExpired(paths, found, now);
    return undefined;
  } catch (cause) {
    // What it is told already; a fault of writing it is one of this step.
    const isTold = cause instanceof Failure && cause.code === 'leaf-not-signed';
    return isTold ? cause : notSigned(found.leaf, cause);
  }
}

/** Whether the clock shows an earlier time than it did before. */
export function wasSetBack(earlier: readonly (Date | undefined)[], now: Date): boolean {
  return earlier.some((at) => at !== undefined && at.getTime() - now.getTime() > LEEWAY_MS);
}

/** What the clock showed at the end of the last run, and whether that was cut off before the restart. */
async function lastRun(paths: HostPaths): Promise<{ at: Date | undefined; restartDue: boolean }> {
  const last = (await readAttempts(paths)).find(({ name }) => name === NAME);
  return {
    at: last === undefined ? undefined : new Date(last.at),
    restartDue: last?.restartDue === true,
  };
}

/** What the clock showed when the kubelet started; undefined if it does not run. */
async function kubeletStart(signal: AbortSignal): Promise<Date | undefined> {
  const args = ['show', KUBELET, '--property=ActiveEnterTimestamp', '--value', '--timestamp=unix'];
  const text = await run('systemctl', args, { signal, deadlineMs: 60_000 });
  const [, seconds] = /^@(\d+)/.exec(text) ?? [];
  return seconds === undefined ? undefined : new Date(Number(seconds) * 1000);
}
