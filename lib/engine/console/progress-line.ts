import { endsInstallation, installs } from '../agents/table.ts';
import type { AgentStatus } from '../steps/status.ts';
import { PLAIN_STEPS } from './plain-steps.ts';
import { PLAIN_WORDS, shownOnConsole } from './wording.ts';

/** The state of an agent as one line on the console; undefined if there is nothing to report. */
export function progressLine(status: AgentStatus | undefined): string | undefined {
  const line = status === undefined ? undefined : lineOf(status);
  return line === undefined ? undefined : shownOnConsole(line);
}

const troubleText = ({ trouble }: NonNullable<AgentStatus['step']>): string =>
  trouble === undefined ? '' : `: ${trouble}`;

const paceText = (pace: AgentStatus['pace']): string =>
  pace === undefined
    ? ''
    : `, after ${clock(pace.elapsedSeconds)}, usually ${clock(pace.usualSeconds)} in all`;

/** Minutes and seconds. */
const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, '0')}`;

/** In plain words where a technician watches; elsewhere, those who read it look for the step by its name. */
const stepText = (agent: string, name: string): string =>
  agent === 'reconfigure' ? (PLAIN_STEPS[name] ?? name) : name;

function lineOf({ agent, step, state, reason, pace }: AgentStatus): string | undefined {
  const who = Object.entries(PLAIN_WORDS).find(([name]) => name === agent)?.[1];
  if (who === undefined) return undefined;
  switch (state) {
    case 'running':
      return step === undefined
        ? who
        : `${who}: step ${step.number} of ${step.of} (${stepText(agent, step.name)})${paceText(pace)}${troubleText(step)}`;
    case 'failed':
      return `${who}: FAILED: ${reason ?? 'no reason given'}`;
    case 'stopped':
      return `${who}: stopped`;
    case 'done':
      return endsInstallation(agent)
        ? 'PASS: the host is installed. Nothing is left to do.'
        : `${who}: done`;
    case 'reboot':
      if (!installs(agent)) return `${who}: this host restarts: ${reason ?? 'no reason given'}`;
      return 'The disk is written. The host restarts into it now; the live medium may be removed.';
  }
}
