import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../../lib/errors/failure.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { statusPath } from '../../../lib/steps/reporter.ts';
import { statusSchema } from '../../../lib/steps/status.ts';
import type { Host } from '../../host/host.ts';
import { stepJournal, waitForStep } from '../../host/wait-for-step.ts';
import type { Installation } from '../../installation.ts';
import { startUnit } from './plans.ts';
import type { Cell } from './table.ts';

/** How long a fault lasts if the plan does not end before. */
const FAULT_MS = 15_000;
/** From when the fault is over. */
const END_MS = 6 * 60_000;
const COMMAND_MS = 60_000;

export interface CellResult {
  readonly plan: string;
  readonly step: string;
  readonly fault: string;
  /** `success`, or the code of the failure after which the next run succeeded. */
  readonly ended: string;
  readonly seconds: number;
}

/**
 * Runs a plan while something goes wrong. It has to succeed, as soon as the fault is over at the latest, or to end with a
 * failure that the cell names; then the next run has to succeed.
 *
 * @throws Failure (fatal, deadline) with what happened instead
 */
export async function runCell(run: Installation, cell: Cell): Promise<CellResult> {
  const { signal } = run.context;
  const { host } = run.cluster;
  const { plan, step, fault, state, mayFail } = cell;
  const began = performance.now();
  const settings = join(host.rootDir, 'etc/sno-agents/settings.json');
  await writeFile(settings, JSON.stringify(plan.settings));
  try {
    await reset(host, plan.agent, signal);
    const { start, proof } = await plan.prepare(run.cluster, signal);
    const untilOver = () => untilEnded(host, plan.agent, FAULT_MS, signal);
    if (step === 'before') {
      await state(run, signal, async () => {
        await start();
        await untilOver();
      });
    } else {
      const since = new Date().toISOString();
      await start();
      await waitForStep(host, plan.agent, [step, 'started'], signal, since);
      await state(run, signal, async () => void (await untilOver()));
    }
    const ended = await outcomeOf(host, plan.agent, signal);
    if (ended !== 'success') {
      if (!mayFail.some((code) => code === ended)) throw await wrongEnd(cell, host, ended);
      await reset(host, plan.agent, signal);
      await startUnit(host, plan.agent, signal);
      const again = await outcomeOf(host, plan.agent, signal);
      if (again !== 'success') throw await wrongEnd(cell, host, `${ended}, then ${again}`);
    }
    await proof();
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    return { plan: plan.agent, step, fault, ended, seconds };
  } finally {
    await rm(settings, { force: true });
  }
}

async function reset(host: Host, agent: string, signal: AbortSignal): Promise<void> {
  const argv = ['systemctl', 'reset-failed', `${agent}.service`];
  await host.exec(argv, { timeoutMs: COMMAND_MS }, signal);
}

async function stateOf(host: Host, agent: string, signal: AbortSignal): Promise<string> {
  const argv = ['systemctl', 'show', '--property=ActiveState', '--value', `${agent}.service`];
  return (await host.exec(argv, { timeoutMs: COMMAND_MS }, signal)).stdout.trim();
}

/** Waits until the unit is neither active nor about to be restarted; false at the deadline. */
async function untilEnded(
  host: Host,
  agent: string,
  forMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const until = performance.now() + forMs;
  // A oneshot that has just been started is "activating".
  for (;;) {
    const state = await stateOf(host, agent, signal);
    if (state === 'inactive' || state === 'failed') return true;
    if (performance.now() > until) return false;
    await sleep(250, undefined, { signal });
  }
}

/** How the unit ends: `success`, or the code of its failure. */
async function outcomeOf(
  host: Host,
  agent: Cell['plan']['agent'],
  signal: AbortSignal,
): Promise<string> {
  if (!(await untilEnded(host, agent, END_MS, signal))) {
    throw new Failure('deadline', `${agent} has not ended`, {
      expected: `within ${END_MS / 1000} s after the fault`,
      found: await lastLines(host, agent),
    });
  }
  const text = await readFile(statusPath(hostPaths(`/proc/${host.leader}/root`), agent), 'utf8');
  const { state, failure } = statusSchema.parse(JSON.parse(text));
  return state === 'done' ? 'success' : (failure?.code ?? state);
}

const lastLines = async ({ rootDir }: Host, agent: Cell['plan']['agent']): Promise<string> =>
  (await readFile(stepJournal(rootDir, agent), 'utf8').catch(() => '')).slice(-500);

async function wrongEnd({ plan, step, fault, mayFail }: Cell, host: Host, ended: string) {
  return new Failure('fatal', `${plan.agent}, ${fault} in ${step}: it ended otherwise`, {
    expected: ['success', ...mayFail].join(', '),
    found: `${ended}; ${await lastLines(host, plan.agent)}`,
  });
}
