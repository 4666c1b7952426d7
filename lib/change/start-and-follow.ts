import { Failure } from '../base/errors/failure.ts';
import { type FailureData, failureFromData, failureSentence } from '../base/errors/failure-data.ts';
import { ChangeSignal } from '../base/wait/change-signal.ts';
import { type Seen, waitUntil } from '../base/wait/wait-until.ts';
import { statusPath } from '../engine/steps/reporter.ts';
import { type AgentStatus, readStatus } from '../engine/steps/status.ts';
import type { HostPaths } from '../host/paths.ts';
import { LONGEST_START_MS, startAndWait } from '../host/start-and-wait.ts';
import { startUnit } from '../host/systemd.ts';
import type { Change } from './change.ts';

const LOOK_EVERY_MS = 1000;
/** For systemd to accept a job, on a busy host. */
const BEGIN_MS = 60_000;

/** A change that was requested, or is continued, by a person at a terminal. */
export interface Begun<Result> {
  /** The agent that carries it out; its unit has the same name. */
  readonly agent: string;
  /** As messages name it: `the restore`. */
  readonly what: string;
  /** Whether it was requested before: what its agent has said since then counts. */
  readonly isContinued?: boolean;
  /** False for `--no-wait`. */
  readonly isWaited: boolean;
  /** Whether that is how this change ended, and not an earlier one. */
  readonly isIts: (result: Result) => boolean;
}

/**
 * The end of every command that requests a change: starts its unit, prints each step of it, and returns how it ended.
 * Undefined if nobody waits. The change does not need the command.
 *
 * @throws Failure of the agent's own kind, or `retry`, if it has not ended
 */
export async function startAndFollow<Result>(
  change: Pick<Change<unknown, Result>, 'last' | 'status'>,
  paths: HostPaths,
  begun: Begun<Result>,
  write: (text: string) => void,
): Promise<Result | undefined> {
  const { agent, what, isContinued = false, isWaited, isIts } = begun;
  const unit = `${agent}.service`;
  write(`It also continues without this command. "${change.status}" prints its state.\n`);
  if (!isWaited) {
    await startUnit(unit, AbortSignal.timeout(BEGIN_MS));
    return undefined;
  }
  const since = isContinued ? new Date(0) : new Date();
  const changes = new ChangeSignal();
  let isStarted = false;
  const starting = startAndWait(unit).finally(() => {
    isStarted = true;
    changes.notify();
  });
  const ended = async (): Promise<Seen<End<Result>>> => {
    // In this order: a result that is written in between is seen.
    const mayGoOn = !isStarted;
    const present = await readStatus(statusPath(paths, agent));
    const result = await change.last(paths);
    if (result !== undefined && isIts(result)) return { met: { result } };
    const status =
      present !== undefined && new Date(present.updated) >= since ? present : undefined;
    if (mayGoOn || goesOn(status)) return { state: status === undefined ? '' : lineOf(status) };
    return { met: { failure: status?.failure } };
  };
  const waiting = waitUntil(ended, {
    signal: new AbortController().signal,
    deadlineMs: LONGEST_START_MS,
    everyMs: LOOK_EVERY_MS,
    changes,
    report: (line) => (line === '' ? undefined : write(`${line}\n`)),
    late: () => notEnded(change, { unit, what }, undefined),
  });
  const [end] = await Promise.all([waiting, starting]);
  if (end.result !== undefined) return end.result;
  throw notEnded(change, { unit, what }, end.failure);
}

/** Whether an agent whose unit does not end with its start is still at work. systemd starts it again after a retryable failure. */
const goesOn = (status: AgentStatus | undefined): boolean =>
  status?.state === 'running' || (status?.state === 'failed' && status.failure?.kind === 'retry');

interface End<Result> {
  readonly result?: Result;
  readonly failure?: FailureData | undefined;
}

function notEnded(
  { status }: { readonly status: string },
  { unit, what }: { readonly unit: string; readonly what: string },
  failure: FailureData | undefined,
): Failure {
  const cause = failure === undefined ? undefined : failureFromData(failure);
  return new Failure(cause?.kind ?? 'retry', `${what} has not ended`, {
    code: cause?.code,
    fix: `See "${status}". Run "systemctl start ${unit}" to continue it; a restart of the host continues it, too.`,
    cause,
  });
}

/** What the agent does, in one line; empty if nothing. */
function lineOf({ step, state, failure }: AgentStatus): string {
  if (state !== 'running' && state !== 'failed') return '';
  if (state === 'failed' && failure !== undefined) {
    return `It starts again after a failure: ${failureSentence(failure)}`;
  }
  if (step === undefined) return 'Starting';
  const wait = step.waitingFor === undefined ? '' : `, waiting for ${step.waitingFor}`;
  return `Step ${step.number} of ${step.of}: ${step.name}${wait}`;
}
