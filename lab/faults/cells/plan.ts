import { readFile } from 'node:fs/promises';
import type { FailureCode } from '../../../lib/base/errors/codes.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { AgentName } from '../../../lib/engine/agents/table.ts';
import { statusPath } from '../../../lib/engine/steps/reporter.ts';
import { type AgentStatus, readStatus } from '../../../lib/engine/steps/status.ts';
import type { Step } from '../../../lib/engine/steps/step.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { AllInOne } from '../../all-in-one.ts';
import { eventually } from '../../eventually.ts';
import type { Host } from '../../host/host.ts';
import { onHost } from '../../host/on-host.ts';

const COMMAND_MS = 120_000;
/** Of a command that waits for the end of its plan. */
const PLAN_MS = 20 * 60_000;
const BEGINS_MS = 60_000;

export interface Prepared {
  /** Begins it, or continues what was interrupted; returns once its unit has been started. */
  start(): Promise<void>;
  /** What it waits for happens, once the fault is over; only of plans that do not end by themselves. */
  readonly end?: () => Promise<void>;
  /** Throws unless it has done what it had to do. */
  proof(): Promise<void>;
}

/** A plan of an installed host, as its timer or its command begins it. */
export interface PlanUnderTest {
  readonly agent: AgentName;
  readonly steps: readonly Pick<Step<never>, 'name' | 'touches'>[];
  /** The unit that starts it, if that is not its own. */
  readonly unit?: string;
  /** The failure by which it says that it has done what it had to do. Default: it ends without one. */
  readonly succeedsWith?: FailureCode;
  /** Short where a fault would be waited for. */
  readonly settings: Partial<Settings>;
  /** Gives it something to do. */
  prepare(run: AllInOne): Promise<Prepared>;
}

/** Without waiting for its end, whether it has failed before or not. */
export async function startUnit(host: Host, unit: string, signal: AbortSignal): Promise<void> {
  const reset = ['systemctl', 'reset-failed', `${unit}.service`];
  await host.exec(reset, { timeoutMs: COMMAND_MS }, signal);
  await onHost(host, ['systemctl', 'start', '--no-block', `${unit}.service`], signal);
}

/** Its active state and the more precise one, such as `active`, `exited`. */
export async function unitStates(host: Host, unit: string, signal: AbortSignal): Promise<string[]> {
  const properties = ['--property=ActiveState', '--property=SubState', '--value'];
  const argv = ['systemctl', 'show', ...properties, `${unit}.service`];
  return (await host.exec(argv, { timeoutMs: COMMAND_MS }, signal)).stdout.trim().split('\n');
}

/** What the agent said last in this boot. */
export const statusOf = (host: Host, agent: AgentName): Promise<AgentStatus | undefined> =>
  readStatus(statusPath(hostPaths(host.ownView), agent));

/** Whether the plan has ended as it has to. */
export const hasSucceeded = (
  { succeedsWith }: PlanUnderTest,
  status: AgentStatus | undefined,
): boolean =>
  succeedsWith === undefined
    ? status?.state === 'done'
    : status?.state === 'failed' && status.failure?.code === succeedsWith;

/**
 * Gives a command that requests a plan and waits for its end; returns once the plan has begun.
 *
 * @throws Failure (fatal) if the command ends before, with what it printed
 */
export async function request(
  host: Host,
  agent: AgentName,
  argv: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const before = (await statusOf(host, agent))?.updated;
  let ended: string | undefined;
  // What becomes of the plan is read from its status: the host may lose its power.
  host.exec(argv, { timeoutMs: PLAN_MS }, signal).then(
    ({ exitCode, stdout, stderr }) => {
      ended = `exit code ${exitCode}: ${stderr || stdout}`;
    },
    (error: unknown) => {
      ended = String(error);
    },
  );
  const begun = async () => {
    if ((await statusOf(host, agent))?.updated !== before) return;
    const found = ended ?? 'the command is still running';
    throw new Failure('fatal', `${argv.join(' ')} did not begin its plan`, { found });
  };
  await eventually(begun, BEGINS_MS, signal);
}

/** The contents of a file of the host; empty if there is none. */
export const textOn = ({ rootDir }: Host, path: string): Promise<string> =>
  readFile(`${rootDir}${path}`, 'utf8').catch(() => '');
