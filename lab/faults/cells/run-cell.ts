import { readFile } from 'node:fs/promises';
import { EXIT } from '../../../lib/base/errors/exit-codes.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { failureSentence } from '../../../lib/base/errors/failure-data.ts';
import { holds, lookUntil } from '../../../lib/base/wait/wait-until.ts';
import type { AgentName } from '../../../lib/engine/agents/table.ts';
import type { AgentStatus } from '../../../lib/engine/steps/status.ts';
import { withSettings } from '../../agent-settings.ts';
import type { AllInOne } from '../../all-in-one.ts';
import type { Host } from '../../host/host.ts';
import { hostTime, onHost } from '../../host/on-host.ts';
import { stepJournal, waitForStep } from '../../host/wait-for-step.ts';
import { patient } from '../../patience.ts';
import type { FaultResult } from '../result.ts';
import { bootAgain } from './faults.ts';
import { NAMED_ERRORS, type NamedError } from './named-errors.ts';
import { hasSucceeded, type PlanUnderTest, statusOf, unitStates } from './plan.ts';
import { type Cell, INTERRUPTED } from './table.ts';

/** How long a fault lasts if the plan does not end before. */
const FAULT_MS = 15_000;
/** From when the fault is over. */
const END_MS = 8 * 60_000;
const LOOK_EVERY_MS = 250;

/**
 * Runs a plan while something goes wrong. It has to succeed, as soon as the fault is over at the latest, or to end with a
 * failure that the cell names; then the next run has to succeed.
 *
 * @throws Failure (fatal, deadline) with what happened instead
 */
export async function runCell(run: AllInOne, cell: Cell): Promise<FaultResult> {
  const { signal } = run.context;
  const { plan, step, fault, state, mayFail } = cell;
  const began = performance.now();
  return withSettingsOf(run, plan, async () => {
    const { start, end, proof } = await plan.prepare(run);
    // What was prepared is not lost with the power.
    await onHost(run.booted, ['sync'], signal);
    const untilOver = () => untilEnded(run, plan.agent, FAULT_MS);
    if (step === 'before') {
      await state(run, signal, async () => {
        await start();
        await untilOver();
      });
    } else {
      const since = await hostTime(run.booted, signal);
      await start();
      await waitForStep(run.booted, plan.agent, [step, 'started'], signal, since);
      await state(run, signal, async () => void (await untilOver()));
    }
    await end?.();
    const ended = await outcomeOf(run, cell);
    if (ended !== 'success') {
      if (!mayFail.some((code) => code === ended)) throw await wrongEnd(cell, run.booted, ended);
      await start();
      await end?.();
      const again = await outcomeOf(run, cell);
      if (again !== 'success') throw await wrongEnd(cell, run.booted, `${ended}, then ${again}`);
    }
    await proof();
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    return { plan: plan.agent, step, fault, outcome: ended, seconds };
  });
}

/** With the settings of the plan on the host; their times are those of a container. */
export function withSettingsOf<T>(
  run: AllInOne,
  { settings }: PlanUnderTest,
  during: () => Promise<T>,
): Promise<T> {
  const ours = Object.entries(settings).map(([name, value]) => [
    name,
    typeof value === 'number' && name.endsWith('Ms') ? patient(value) : value,
  ]);
  return withSettings(() => run.booted, Object.fromEntries(ours), during);
}

/**
 * Waits until the unit is neither active nor about to be restarted; false at the deadline. A host that restarts by
 * itself meanwhile is started again; `early` is called as soon as it runs.
 */
export async function untilEnded(
  run: AllInOne,
  agent: AgentName,
  forMs: number,
  early?: (host: Host) => Promise<void>,
): Promise<boolean> {
  const { signal } = run.context;
  const ended = async () => {
    if (await run.booted.hasEnded()) {
      await run.booted.stop();
      await bootAgain(run, early);
    }
    // A host that is going down does not answer.
    const isSo = await isEnded(run.booted, agent, signal).catch(() => false);
    signal.throwIfAborted();
    return isSo;
  };
  const limits = { signal, deadlineMs: patient(forMs), everyMs: patient(LOOK_EVERY_MS) };
  // A oneshot that has just been started is "activating".
  return 'met' in (await lookUntil(holds(ended, 'it runs'), limits));
}

/** Also if its unit stays active without a process. */
async function isEnded(host: Host, agent: AgentName, signal: AbortSignal): Promise<boolean> {
  const [state = '', sub = ''] = await unitStates(host, agent, signal);
  if (state !== 'inactive' && state !== 'failed' && sub !== 'exited') return false;
  const said = (await statusOf(host, agent))?.state;
  // The host is going down, and the agent continues at its next boot.
  return said !== 'reboot' && said !== 'stopped';
}

/** How the unit ends: `success`, or the code of its failure, whose exit code and sentence are checked. */
async function outcomeOf(
  run: AllInOne,
  cell: Cell,
): Promise<'success' | NamedError | typeof INTERRUPTED> {
  const { agent } = cell.plan;
  if (!(await untilEnded(run, agent, END_MS))) {
    throw new Failure('deadline', `${nameOf(cell)}: it has not ended`, {
      expected: `within ${patient(END_MS) / 1000} s after the fault`,
      found: await lastLines(run.booted, agent),
    });
  }
  const status = await statusOf(run.booted, agent);
  // Its host has lost its power, and nothing starts it at a boot.
  if (status === undefined) return INTERRUPTED;
  if (hasSucceeded(cell.plan, status)) return 'success';
  return namedFailure(cell, status);
}

const EXIT_CODES = {
  retry: EXIT.retryable,
  usage: EXIT.usage,
  deadline: EXIT.deadline,
  fatal: EXIT.fatal,
  bug: EXIT.fatal,
} as const;

/** Named by the cell, with the exit code of its kind and its sentence. */
function namedFailure(cell: Cell, { state, failure, exitCode }: AgentStatus): NamedError {
  const code = cell.mayFail.find((each) => each === failure?.code);
  const sentence = failure === undefined ? state : failureSentence(failure);
  const wrong = (expected: string) =>
    new Failure('fatal', `${nameOf(cell)}: it ended otherwise`, {
      expected,
      found: `${failure?.code ?? 'no failure'}, exit code ${exitCode}: ${sentence}`,
    });
  if (failure === undefined || code === undefined || code === INTERRUPTED) {
    throw wrong(['success', ...cell.mayFail].join(', '));
  }
  const expected = EXIT_CODES[failure.kind];
  if (exitCode !== expected) throw wrong(`exit code ${expected}`);
  const says = NAMED_ERRORS[code];
  if (!says.test(failure.what)) throw wrong(says.source);
  return code;
}

export const nameOf = ({ plan, step, fault }: Cell): string => `${plan.agent}, ${fault} in ${step}`;

const lastLines = async ({ rootDir }: Host, agent: Cell['plan']['agent']): Promise<string> =>
  (await readFile(stepJournal(rootDir, agent), 'utf8').catch(() => '')).slice(-500);

async function wrongEnd(cell: Cell, host: Host, ended: string): Promise<Failure> {
  return new Failure('fatal', `${nameOf(cell)}: it ended otherwise`, {
    expected: ['success', ...cell.mayFail].join(', '),
    found: `${ended}; ${await lastLines(host, cell.plan.agent)}`,
  });
}
