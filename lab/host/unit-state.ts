import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { lookUntil, waitUntil } from '../../lib/base/wait/wait-until.ts';
import { patient } from '../patience.ts';
import type { Exit } from './exec.ts';
import type { Host } from './host.ts';

/** On a slow host, each look is work that the host does not do meanwhile: there it is less often. */
const LOOK_EVERY_MS = 1_000;
/** At a host whose end is noticed at once: only for failures. */
const LOOK_FOR_FAILURES_EVERY_MS = 5_000;

/**
 * Waits until the host ends by itself. Fails at the deadline, and earlier if one of the units has
 * failed permanently, since nothing will end the host then.
 */
export async function waitForOwnExit(
  host: Host,
  units: readonly string[],
  deadlineMs: number,
  signal: AbortSignal,
): Promise<Exit> {
  const exit = host.waitForExit(signal);
  const ended = new AbortController();
  const endsLooking = () => ended.abort();
  exit.then(endsLooking, endsLooking);
  const looking = AbortSignal.any([signal, ended.signal]);
  const failures = async () => {
    // The host may be shutting down: then a missing answer is not a failure.
    throwIfFailed(host, units, await activeStates(host, units, looking).catch(() => []));
    return { state: 'none of the units has failed' };
  };
  const everyMs = patient(LOOK_FOR_FAILURES_EVERY_MS);
  const late = async () => {
    await lookUntil(failures, { signal: looking, deadlineMs, everyMs });
    throw new Failure('deadline', `${host.identity.name} did not end by itself`, {
      expected: `within ${deadlineMs / 60_000} minutes`,
      found: await whatRuns(host, signal),
      fix: 'Read the journal of the live host',
    });
  };
  return Promise.race([exit, late()]);
}

/**
 * Waits until the host has ended, however.
 *
 * @param deadlineMs on a container
 */
export async function exitWithin(
  host: Pick<Host, 'identity' | 'waitForExit'>,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<Exit> {
  const late = AbortSignal.timeout(patient(deadlineMs));
  try {
    return await host.waitForExit(AbortSignal.any([signal, late]));
  } catch (error) {
    if (signal.aborted || !late.aborted) throw error;
    throw new Failure('deadline', `${host.identity.name} did not end`, {
      expected: `within ${patient(deadlineMs) / 1000}s`,
    });
  }
}

/** What keeps a host from ending: its state, the jobs of its systemd, and its processes. */
async function whatRuns(host: Host, signal: AbortSignal): Promise<string> {
  const asked = [
    ['systemctl', 'is-system-running'],
    ['systemctl', 'list-jobs', '--no-legend', '--no-pager'],
    ['ps', '-e', '-o', 'pid,stat,wchan:20,args', '--no-headers'],
  ];
  const answers: string[] = [];
  for (const command of asked) {
    const answer = await host
      .exec(command, { timeoutMs: 10_000 }, signal)
      .then(({ stdout, stderr }) => stdout || stderr, describeError);
    answers.push(`${command[0]} ${command[1]}: ${answer.trim() || 'nothing'}`);
  }
  return answers.join('\n');
}

/** What the state of a unit is asked of. */
type Asked = Pick<Host, 'identity' | 'exec'>;

/** Waits until a started unit is inactive again. Fails if it or one of `earlier` fails, and at the deadline. */
export async function waitUntilInactive(
  host: Asked,
  unit: string,
  earlier: readonly string[],
  deadlineMs: number,
  signal: AbortSignal,
): Promise<void> {
  const inactive = async () => {
    const units = [unit, ...earlier];
    const states = await activeStates(host, units, signal);
    throwIfFailed(host, units, states);
    const [state = ''] = states;
    // As long as it has not begun, systemd has a job for it.
    const isSo = state === 'inactive' && !(await hasJob(host, unit, signal));
    return isSo ? { met: undefined } : { state };
  };
  await waitUntil(inactive, {
    signal,
    deadlineMs,
    everyMs: patient(LOOK_EVERY_MS),
    late: ({ state }) =>
      new Failure('deadline', `${unit} has not finished`, {
        expected: `within ${deadlineMs / 60_000} minutes`,
        found: state,
      }),
  });
}

function throwIfFailed(host: Asked, units: readonly string[], states: readonly string[]): void {
  const failed = units.find((_, index) => states[index] === 'failed');
  if (failed === undefined) return;
  throw new Failure('fatal', `${failed} failed on ${host.identity.name}`, {
    fix: 'Read its journal',
  });
}

/** Of starting or stopping a unit. */
async function hasJob(host: Asked, unit: string, signal: AbortSignal): Promise<boolean> {
  const show = ['systemctl', 'show', '--property=Job', '--value', unit];
  const job = (await host.exec(show, { timeoutMs: 10_000 }, signal)).stdout.trim();
  return job !== '' && job !== '0';
}

/** In the order of the units: systemctl separates them by empty lines. */
async function activeStates(
  host: Asked,
  units: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const show = ['systemctl', 'show', '--property=ActiveState', '--value', ...units];
  return (await host.exec(show, { timeoutMs: 10_000 }, signal)).stdout.trim().split(/\n+/);
}

/** Waits until a unit has failed permanently; returns its program's exit code. */
export async function waitForFailure(
  host: Asked,
  unit: string,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<number> {
  const failed = async () => {
    const [state = ''] = await activeStates(host, [unit], signal);
    return state === 'failed' ? { met: undefined } : { state };
  };
  await waitUntil(failed, {
    signal,
    deadlineMs,
    everyMs: patient(LOOK_EVERY_MS),
    late: ({ state }) =>
      new Failure('deadline', `${unit} has not failed`, {
        expected: `within ${deadlineMs / 1000}s`,
        found: state,
      }),
  });
  const show = ['systemctl', 'show', '--property=ExecMainStatus', '--value', unit];
  return Number((await host.exec(show, { timeoutMs: 10_000 }, signal)).stdout.trim());
}
