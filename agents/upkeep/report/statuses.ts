import { EXIT } from '../../../lib/base/errors/exit-codes.ts';
import { AGENTS, type AgentName } from '../../../lib/engine/agents/table.ts';
import type { ReportedState } from '../../../lib/engine/report/node-report.ts';
import { isLocked } from '../../../lib/engine/steps/lock.ts';
import { statusPath } from '../../../lib/engine/steps/reporter.ts';
import { type AgentStatus, readStatus } from '../../../lib/engine/steps/status.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { told, toldFailure } from './failure-text.ts';

/**
 * Whose statuses are of no interest: its own, that of a collection, those of agents that watch for days, of one that ends
 * before anybody can be told, and of those that a host with a control plane does not have.
 */
const LEFT_OUT: readonly AgentName[] = [
  ...(['sno-report', 'gather', 'approve-csr', 'progress', 'sno-approve', 'sno-deferred'] as const),
  ...(['sno-in-place', 'worker', 'sno-worker-trust'] as const),
];

/** Whose work is reported; units/report/sno-report.path watches their statuses. */
export const REPORTED_AGENTS: readonly AgentName[] = AGENTS.map(({ name }) => name).filter(
  (name) => !LEFT_OUT.includes(name),
);

/** The statuses of the reported agents in this boot. */
export type Statuses = ReadonlyMap<AgentName, AgentStatus>;

export async function readStatuses(paths: HostPaths): Promise<Statuses> {
  const read = await Promise.all(
    REPORTED_AGENTS.map(async (name) => ({
      name,
      status: await readStatus(statusPath(paths, name)),
    })),
  );
  const found = new Map<AgentName, AgentStatus>();
  for (const { name, status } of read) {
    if (status !== undefined) found.set(name, status);
  }
  return found;
}

/** Whether an agent is working towards something that is reported. One that was killed cannot retract its status. */
export async function isWorking({ root }: HostPaths, statuses: Statuses): Promise<boolean> {
  for (const [name, { state }] of statuses) {
    if (state === 'running' && (await isLocked(name, root))) return true;
  }
  return false;
}

/** Where an agent is. */
export function stepOf(status: AgentStatus | undefined): Pick<ReportedState, 'step'> {
  if (status?.state !== 'running' || status.step === undefined) return {};
  const { agent, step } = status;
  const { name, number, of, since, waitingFor } = step;
  return {
    step: {
      ...{ agent, name, number, of, since },
      ...(waitingFor === undefined ? {} : { waitingFor: told(waitingFor) }),
    },
  };
}

/** Whether it has ended in a way after which systemd does not start it again. */
export const hasFailed = (status: AgentStatus): boolean =>
  status.state === 'failed' && status.exitCode !== EXIT.retryable;

/** What is reported of a status alone. */
export const stateOf = (
  change: ReportedState['change'],
  status: AgentStatus,
  state: ReportedState['state'],
): ReportedState => ({
  change,
  state,
  at: status.updated,
  ...stepOf(status),
  ...toldFailure(status.failure),
});
