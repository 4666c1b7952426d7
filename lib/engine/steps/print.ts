import { failureSentence } from '../../base/errors/failure-data.ts';
import type { JournalEntry } from './journal.ts';
import type { AgentStatus } from './status.ts';
import type { Plan } from './step.ts';

/** The steps of a plan, one line each: deadline, postcondition, and what it touches. */
export function planText<Context>(plan: Plan<Context>): string {
  const width = Math.max(...plan.steps.map((step) => step.name.length));
  const lines = plan.steps.map((step, index) => {
    const number = String(index + 1).padStart(2);
    const deadline = duration(step.deadlineMs).padStart(6);
    const touches = step.touches.length === 0 ? '' : `  [${step.touches.join(', ')}]`;
    return `${number}  ${step.name.padEnd(width)}  ${deadline}  ${step.leaves}${touches}`;
  });
  return `${plan.agent}: ${plan.purpose}\n\n${lines.join('\n')}\n`;
}

/** The state of an agent, for people. */
export function statusText<Context>(
  plan: Plan<Context>,
  status: AgentStatus | undefined,
  entries: readonly JournalEntry[],
): string {
  const width = Math.max(...plan.steps.map((step) => step.name.length));
  const lines = plan.steps.map((step) => {
    const last = entries.findLast((entry) => entry.step === step.name);
    return `  ${step.name.padEnd(width)}  ${last === undefined ? '-' : lastWord(last)}`;
  });
  return [`${plan.agent}: ${summary(status)}`, ...lines, ''].join('\n');
}

function summary(status: AgentStatus | undefined): string {
  if (status === undefined) return 'has not run since the host started';
  const { step, state, reason } = status;
  if (state === 'running' && step !== undefined) {
    const wait = step.waitingFor === undefined ? '' : `, waiting for ${step.waitingFor}`;
    const trouble = step.trouble === undefined ? '' : `: ${step.trouble}`;
    return `running step ${step.number} of ${step.of}, ${step.name}${wait}${trouble}; since ${step.since}, until ${step.until}`;
  }
  return reason === undefined ? state : `${state}: ${reason}`;
}

function lastWord(entry: JournalEntry): string {
  const failure = entry.failure === undefined ? undefined : failureSentence(entry.failure);
  const tail = failure ?? entry.reason ?? entry.note;
  const took = entry.seconds === undefined ? '' : ` in ${entry.seconds}s`;
  return `${entry.event}${took} (${entry.at})${tail === undefined ? '' : `: ${tail}`}`;
}

function duration(ms: number): string {
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${Math.round(ms / 1000)}s`;
}
