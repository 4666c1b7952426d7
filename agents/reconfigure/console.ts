import { type FailureData, failureSentence } from '../../lib/base/errors/failure-data.ts';
import { progressLine } from '../../lib/engine/console/progress-line.ts';
import { printableOnConsole } from '../../lib/engine/console/wording.ts';
import type { AgentStatus } from '../../lib/engine/steps/status.ts';

/** What it waits for is something that a technician can do something about. */
const TANGIBLE = 'network';
/** Between two lines of one step. */
const AGAIN_SECONDS = 10;

/** Each step as one line, in plain words, and again while it takes its time; at the end PASS, or FAIL with one instruction. */
export function consoleLines(write: (text: string) => void): (status: AgentStatus) => void {
  let shown = '';
  let shownAt = 0;
  return (status) => {
    const { step, state, pace } = status;
    const elapsed = pace?.elapsedSeconds ?? 0;
    const key = `${state} ${step?.name} ${waiting(status)}`;
    // Without an attempt it may be done already, in an earlier process.
    const isBegun = state !== 'running' || (step !== undefined && step.attempt > 0);
    const isAgain = key === shown && (state !== 'running' || elapsed < shownAt + AGAIN_SECONDS);
    if (isAgain || !isBegun) return;
    shown = key;
    shownAt = elapsed;
    if (state === 'failed' && status.failure !== undefined) write(failureText(status.failure));
    else if (state === 'done') write('PASS: this host is set up for its site.\n');
    else write(`${progressLine(status)}${waiting(status)}\n`);
  };
}

const waiting = ({ step, state }: AgentStatus): string =>
  state !== 'running' || step?.name !== TANGIBLE || step.waitingFor === undefined
    ? ''
    : printableOnConsole(`; waiting for ${step.waitingFor}`);

/** Three lines for a photograph: what, what to do, and the code. */
export function failureText(failure: FailureData): string {
  const { fix, code, ...facts } = failure;
  return [
    `FAIL: ${failureSentence({ ...facts, code })}`,
    `What to do: ${fix ?? 'Call support with this text.'}`,
    `Code: ${code}`,
  ]
    .map((line) => `${printableOnConsole(line)}\n`)
    .join('');
}
