import { aiokubePlan } from '../../agents/aiokube/plan.ts';
import { bootkubePlan } from '../../agents/bootkube/plan.ts';
import { installToDiskPlan } from '../../agents/install-to-disk/plan.ts';
import { postRebootPlan } from '../../agents/post-reboot/plan.ts';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { AgentName } from '../../lib/engine/agents/table.ts';
import type { Plan } from '../../lib/engine/steps/step.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import { AllInOne } from '../all-in-one.ts';
import type { Host } from '../host/host.ts';
import { Installation, scenarioOf } from '../installation.ts';
import type { LabContext, Scenario } from '../scenario.ts';
import { type Kills, killInEverySteps } from './kill-in-steps.ts';

export interface KilledAgent {
  readonly agent: AgentName;
  readonly steps: readonly string[];
}

const killed = <Context>(agent: AgentName, { steps }: Plan<Context>): KilledAgent => ({
  agent,
  steps: steps.map(({ name }) => name),
});

/** Agents of the live host, and of the host that boots from the disk. */
interface Victims {
  readonly live: readonly KilledAgent[];
  readonly disk: readonly KilledAgent[];
}

/** The agents are killed once in each of their steps, and the installation is still completed. */
const killedInSteps =
  (create: (context: LabContext) => Installation, { live, disk }: Victims): Scenario =>
  (context) => {
    const run = create(context);
    const kills = new Map<string, Kills>();
    // Before the boot has ended: by then the first steps are over.
    const arm =
      (victims: readonly KilledAgent[]) =>
      async ({ rootDir }: Host) => {
        for (const { agent } of victims) kills.set(agent, await killInEverySteps(rootDir, agent));
      };
    return scenarioOf(run, [
      ...run.stepsToDisk(arm(live)),
      {
        title: 'Boot from the disk',
        run: async () => void (await run.bootInstalled('disk', arm(disk))),
      },
      { title: 'Finish, killed in every step', run: (report) => run.finish(report) },
      {
        title: 'Every step was interrupted',
        run: async () => {
          for (const victim of [...live, ...disk]) expectKills(victim, kills.get(victim.agent));
        },
      },
      { title: 'Check the cluster', run: (report) => run.checkCluster(report) },
    ]);
  };

export const killedInEveryStep = killedInSteps((context) => new Installation(context), {
  live: [
    killed('bootkube', bootkubePlan(defaultSettings)),
    killed('install-to-disk', installToDiskPlan(defaultSettings)),
  ],
  disk: [killed('post-reboot', postRebootPlan(defaultSettings))],
});

export const aioKilledInEveryStep = killedInSteps((context) => new AllInOne(context), {
  live: [],
  disk: [killed('aiokube', aiokubePlan(defaultSettings))],
});

/**
 * A step whose condition is met when it starts may have ended when SIGKILL arrives. The agent is
 * then killed between this step and the next, which is all that there is to interrupt.
 */
const INSTANT_SECONDS = 0.1;

export function expectKills({ agent, steps }: KilledAgent, kills: Kills | undefined): void {
  kills?.stop();
  const wasInstant = (name: string) => (kills?.ended.get(name) ?? Infinity) <= INSTANT_SECONDS;
  const missed = steps.filter((name) => !kills?.inside.includes(name) && !wasInstant(name));
  if (missed.length === 0) return;
  const ended = [...(kills?.ended ?? [])].map(([name, seconds]) => `${name} (${seconds} s)`);
  throw new Failure('fatal', `${agent} was not killed in every step`, {
    found: `missed ${missed.join(', ')}; ended before the kill: ${ended.join(', ') || 'none'}; no process in ${[...(kills?.late ?? [])].join(', ') || 'none'}`,
  });
}
