import { AGENTS, agentEntry } from '../../lib/engine/agents/table.ts';
import type { BundleView } from '../bundle-view.ts';
import { hostFiles } from '../reading/hosts.ts';
import { agentStatuses } from '../reading/steps.ts';
import { msAt } from '../reading/values.ts';
import type { ReportedRun } from './run.ts';

/** Steps that had not begun when the bundle was made. */
export interface Ahead {
  readonly agent: string;
  readonly stage: ReportedRun['stage'];
  /** Absent if the agent itself has not begun. */
  readonly steps?: number;
}

const INSTALLING = AGENTS.filter((agent) => 'installs' in agent).map(({ name }) => name);

/** What is left of the installation: nothing once it is recorded as complete. */
export function stepsAhead(view: BundleView, runs: readonly ReportedRun[]): Ahead[] {
  const isComplete = hostFiles(view, 'agents/record.json').some(
    (path) => msAt(view.json(path), 'completed') !== undefined,
  );
  const known = new Set(runs.map(({ agent }) => agent));
  const furthest = INSTALLING.findLastIndex((name) => known.has(name));
  if (isComplete || furthest < 0) return [];
  const stage = (agent: string) => (agentEntry(agent)?.stage === 'live' ? 'live' : 'installed');
  const begun = agentStatuses(view)
    .filter(({ agent, state }) => state !== 'done' && INSTALLING.some((name) => name === agent))
    .flatMap(({ agent, number, of }) =>
      of > number ? [{ agent, stage: stage(agent), steps: of - number } as const] : [],
    );
  // These are the only ones that lead on their hosts, so they are never ahead of others.
  const others = INSTALLING.slice(furthest + 1).filter((name) => {
    const at = agentEntry(name)?.stage;
    return at !== 'aio' && at !== 'worker';
  });
  return [...begun, ...others.map((agent) => ({ agent, stage: stage(agent) }) as const)];
}
