import type { ReportDocument, TimelineStep } from '../schema.ts';

type Ahead = ReportDocument['timeline']['ahead'][number];

/** The steps of one agent on one host. */
export interface AgentRuns {
  readonly agent: string;
  readonly stage: TimelineStep['stage'];
  readonly state: 'failed' | 'open' | 'finished' | 'ahead';
  readonly steps: readonly TimelineStep[];
  /** Steps that have not begun; undefined if there are none, or their number is unknown. */
  readonly ahead?: number | undefined;
}

const ORDER = ['failed', 'open', 'ahead', 'finished'] as const;

/** Failed agents first, then those that have not ended or not begun, then finished ones. */
export function agentRuns({ steps, ahead }: ReportDocument['timeline']): AgentRuns[] {
  const key = ({ agent, stage }: TimelineStep | Ahead) => `${stage} ${agent}`;
  const groups = [...Map.groupBy(steps, key).values()].flatMap((own): AgentRuns[] => {
    const [first] = own;
    if (first === undefined) return [];
    const rest = ahead.find((one) => key(one) === key(first))?.steps;
    return [
      { agent: first.agent, stage: first.stage, state: stateOf(own), steps: own, ahead: rest },
    ];
  });
  const begun = new Set(steps.map(key));
  const others = ahead
    .filter((one) => !begun.has(key(one)))
    .map(({ agent, stage }): AgentRuns => ({ agent, stage, state: 'ahead', steps: [] }));
  return [...groups, ...others].toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
}

function stateOf(steps: readonly TimelineStep[]): AgentRuns['state'] {
  const last = steps.at(-1);
  if (last === undefined) return 'ahead';
  if (last.result === 'failed' || last.result === 'retrying') return 'failed';
  // Agents of the live host end with its reboot.
  const isOpen = last.result === 'interrupted' && last.stage === 'installed';
  return isOpen || last.result === 'running' ? 'open' : 'finished';
}
