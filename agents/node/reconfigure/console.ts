import { progressLine } from '../../../lib/console/progress-line.ts';
import { printable } from '../../../lib/console/wording.ts';
import { type FailureData, failureSentence } from '../../../lib/errors/failure-data.ts';
import type { AgentStatus } from '../../../lib/steps/status.ts';

/** Each step and each wait as one line, in plain words; at the end PASS, or FAIL with one instruction. */
export function consoleLines(write: (text: string) => void): (status: AgentStatus) => void {
  let shown = '';
  return (status) => {
    const { step, state } = status;
    const key = `${state} ${step?.name} ${step?.waitingFor}`;
    // Without an attempt it may be done already, in an earlier process.
    const isBegun = state !== 'running' || (step !== undefined && step.attempt > 0);
    if (key === shown || !isBegun) return;
    shown = key;
    if (state === 'failed' && status.failure !== undefined) write(failureText(status.failure));
    else if (state === 'done') write('PASS: this host is set up for its site.\n');
    else write(`${progressLine(status)}${waiting(status)}\n`);
  };
}

const waiting = ({ step, state }: AgentStatus): string =>
  state !== 'running' || step?.waitingFor === undefined
    ? ''
    : printable(`; waiting for ${step.waitingFor}`);

/** Three lines for a photograph: what, what to do, and the code. */
export function failureText(failure: FailureData): string {
  const { fix, code, ...facts } = failure;
  return [
    `FAIL: ${failureSentence({ ...facts, code })}`,
    `What to do: ${fix ?? 'Call support with this text.'}`,
    `Code: ${code}`,
  ]
    .map((line) => `${printable(line)}\n`)
    .join('');
}
