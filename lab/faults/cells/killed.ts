import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { failureSentence } from '../../../lib/base/errors/failure-data.ts';
import type { AllInOne } from '../../all-in-one.ts';
import { eventually } from '../../eventually.ts';
import type { Host } from '../../host/host.ts';
import { onHost } from '../../host/on-host.ts';
import { stepJournal } from '../../host/wait-for-step.ts';
import { type Kills, killInEverySteps } from '../kill-in-steps.ts';
import { expectKills } from '../killed-in-every-step.ts';
import type { FaultResult } from '../result.ts';
import { hasSucceeded, type PlanUnderTest, startUnit, statusOf } from './plan.ts';
import { untilEnded, withSettingsOf } from './run-cell.ts';

/** Between two kills; the last one is followed by the rest of the plan. */
const NEXT_MS = 6 * 60_000;
/** An agent that is started more often than it is killed does not get on. */
const SPARE_STARTS = 4;

/**
 * Runs a plan whose agent is killed with SIGKILL once in each step. It is started again, by its unit or as its timer or
 * its person does, until it has succeeded.
 *
 * @throws Failure (fatal, deadline) if it does not succeed, or a step was not killed
 */
export async function runKilled(run: AllInOne, plan: PlanUnderTest): Promise<FaultResult[]> {
  const { signal } = run.context;
  const { agent } = plan;
  const steps = plan.steps.map(({ name }) => name);
  const began = performance.now();
  return withSettingsOf(run, plan, async () => {
    const { start, end, proof } = await plan.prepare(run);
    const journal = stepJournal(run.booted.rootDir, agent);
    // As at its first run: what an earlier one has done is not skipped.
    await rm(journal, { force: true });
    await mkdir(dirname(journal), { recursive: true });
    await onHost(run.booted, ['sync'], signal);
    const killed = new Set<string>();
    const kills: Kills[] = [];
    const arm = async ({ rootDir }: Host) => {
      kills.push(await killInEverySteps(rootDir, agent, killed));
    };
    const allKilled = async () => {
      if (killed.size < steps.length) throw new Error(`${agent} has not reached its last step`);
    };
    try {
      await arm(run.booted);
      await start();
      if (end !== undefined) await eventually(allKilled, NEXT_MS, signal).then(end);
      await untilSucceeded(run, plan, arm);
      expectKills({ agent, steps }, together(kills));
    } finally {
      together(kills).stop();
    }
    await proof();
    const seconds = Math.round((performance.now() - began) / 100 / steps.length) / 10;
    const result = { plan: agent, fault: 'killed', outcome: 'success', seconds } as const;
    return steps.map((step) => ({ ...result, step }));
  });
}

async function untilSucceeded(
  run: AllInOne,
  plan: PlanUnderTest,
  early: (host: Host) => Promise<void>,
): Promise<void> {
  const { signal } = run.context;
  for (let starts = plan.steps.length + SPARE_STARTS; starts > 0; starts -= 1) {
    const isOver = await untilEnded(run, plan.agent, NEXT_MS, early);
    const status = await statusOf(run.booted, plan.agent);
    if (isOver && hasSucceeded(plan, status)) return;
    // The status of a process that was killed says that it is running.
    if (!isOver || status?.state === 'failed') {
      const { failure } = status ?? {};
      throw new Failure('fatal', `${plan.agent}, killed in each step, does not succeed`, {
        found: failure === undefined ? status?.state : failureSentence(failure),
      });
    }
    await startUnit(run.booted, plan.unit ?? plan.agent, signal);
  }
  throw new Failure('fatal', `${plan.agent}, killed in each step, never ends`);
}

/** Of all boots. */
const together = (all: readonly Kills[]): Kills => ({
  inside: all.flatMap(({ inside }) => inside),
  ended: new Map(all.flatMap(({ ended }) => [...ended])),
  late: new Set(all.flatMap(({ late }) => [...late])),
  stop: () => {
    for (const { stop } of all) stop();
  },
});
