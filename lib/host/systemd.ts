import { Failure } from '../base/errors/failure.ts';
import { lastError } from '../base/log/last-error.ts';
import { type Exit, howItEnded } from '../base/wait/repeated-exits.ts';
import { type CommandOptions, run } from './command.ts';

const brief = (signal: AbortSignal): CommandOptions => ({ signal, deadlineMs: 30_000 });

/** Starts a unit without waiting for it. */
export async function startUnit(unit: string, signal: AbortSignal): Promise<void> {
  await run('systemctl', ['start', '--no-block', unit], brief(signal));
}

/**
 * Restarts a unit, or starts it, and waits until it is active.
 * @throws Failure (retry) with the last error of one that has ended instead; systemd may start it again
 */
export async function restartUnit(unit: string, signal: AbortSignal): Promise<void> {
  try {
    await run('systemctl', ['restart', unit], { signal, deadlineMs: 180_000 });
  } catch (error) {
    if (signal.aborted) throw error;
    const exit = await unitExit(unit, signal).catch(() => undefined);
    if (exit === undefined) throw error;
    throw new Failure('retry', `${unit} has ended instead of starting`, {
      code: 'command-failed',
      subject: unit,
      found: howItEnded(exit),
      fix: `See "${exit.see}".`,
      cause: error,
      tellsCause: true,
    });
  }
}

/** Stops a unit and waits until it is inactive; nothing to stop is not an error. */
export async function stopUnit(unit: string, signal: AbortSignal): Promise<void> {
  await run('systemctl', ['stop', unit], { signal, deadlineMs: 180_000 });
}

export async function reloadUnits(signal: AbortSignal): Promise<void> {
  await run('systemctl', ['daemon-reload'], brief(signal));
}

/** Adds units to every target and unit that wants or requires them. */
export async function enableUnits(units: readonly string[], signal: AbortSignal): Promise<void> {
  await run('systemctl', ['enable', '--no-reload', ...units], brief(signal));
}

/** Removes a unit from every target that wants or requires it. */
export async function disableUnit(unit: string, signal: AbortSignal): Promise<void> {
  await run('systemctl', ['disable', '--no-reload', unit], brief(signal));
}

/** Properties of a unit as printed by `systemctl show`. */
export async function unitProperties<Name extends string>(
  unit: string,
  names: readonly Name[],
  signal: AbortSignal,
): Promise<Partial<Record<Name, string>>> {
  const text = await run(
    'systemctl',
    ['show', unit, `--property=${names.join(',')}`],
    brief(signal),
  );
  const properties: Partial<Record<Name, string>> = {};
  for (const line of text.split('\n')) {
    const at = line.indexOf('=');
    const name = names.find((known) => known === line.slice(0, at));
    if (name !== undefined) properties[name] = line.slice(at + 1);
  }
  return properties;
}

/** How long ago a timestamp of systemd's monotonic clock was, such as `ActiveEnterTimestampMonotonic`. */
export function sinceMonotonicMs(microseconds: string): number {
  return Number(process.hrtime.bigint() / 1_000_000n) - Number(microseconds.trim()) / 1000;
}

/**
 * When this boot's systemd started, by the current wall clock: the monotonic
 * distance is correct even if the clock was changed since, and in a container it is
 * the container's own start.
 */
export async function bootTime(signal: AbortSignal): Promise<Date> {
  const text = await run(
    'systemctl',
    ['show', '--property=UserspaceTimestampMonotonic', '--value'],
    brief(signal),
  );
  return new Date(Date.now() - sinceMonotonicMs(text));
}

const PROPERTIES = ['ActiveState', 'SubState', 'Result', 'ExecMainStatus', 'InvocationID'] as const;

const LINES = 200;

/**
 * How a unit has ended by an error of its own and will be started again by systemd, or has failed; undefined if it runs, is
 * stopped, or was killed.
 */
export async function unitExit(unit: string, signal: AbortSignal): Promise<Exit | undefined> {
  const found = await unitProperties(unit, PROPERTIES, signal);
  const { ActiveState, SubState = '', Result, ExecMainStatus = '', InvocationID = '' } = found;
  const hasEnded = SubState.startsWith('auto-restart') || ActiveState === 'failed';
  if (!hasEnded || Result !== 'exit-code' || InvocationID === '') return undefined;
  return {
    of: unit,
    id: InvocationID,
    status: Number(ExecMainStatus),
    error: lastError(await printedBy(InvocationID, LINES, signal)),
    see: `journalctl -u ${unit}`,
  };
}

/** The end of what the processes of one start of a unit printed; empty if the journal does not have it. */
export async function printedBy(
  invocation: string,
  lines: number,
  signal: AbortSignal,
): Promise<string> {
  const match = `_SYSTEMD_INVOCATION_ID=${invocation}`;
  const args = [match, `--lines=${lines}`, '--output=cat', '--quiet', '--no-pager'];
  return run('journalctl', args, { signal, deadlineMs: 30_000 }).catch(() => '');
}
