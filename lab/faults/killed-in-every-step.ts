import { bootkubePlan } from '../../agents/bootkube/plan.ts';
import { installToDiskPlan } from '../../agents/install-to-disk/plan.ts';
import { postRebootPlan } from '../../agents/post-reboot/plan.ts';
import { Failure } from '../../lib/errors/failure.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import type { Plan } from '../../lib/steps/step.ts';
import { Installation, scenarioOf } from '../installation.ts';
import type { Scenario } from '../scenario.ts';
import { type Kills, killInEverySteps } from './kill-in-steps.ts';

/** bootkube, install-to-disk and post-reboot are killed once in each of their steps and still finish. */
export const killedInEveryStep: Scenario = (context) => {
  const run = new Installation(context);
  const kills = new Map<string, Kills>();
  const arm = async (rootDir: string, agent: string) =>
    void kills.set(agent, await killInEverySteps(rootDir, agent));
  return scenarioOf(run, [
    { title: 'Create the installation', run: () => run.create() },
    {
      title: 'Boot the live host',
      run: async () => {
        // Before the boot has ended: by then the first steps are over.
        await run.bootLive('live', async ({ rootDir }) => {
          await arm(rootDir, 'bootkube');
          await arm(rootDir, 'install-to-disk');
        });
      },
    },
    { title: 'Bootstrap, killed in every step', run: (report) => run.bootstrap(report) },
    { title: 'Look at the disk', run: (report) => run.checkDisk(report) },
    {
      title: 'Boot from the disk',
      run: async () => {
        await run.bootInstalled('disk', ({ rootDir }) => arm(rootDir, 'post-reboot'));
      },
    },
    { title: 'Finish, killed in every step', run: (report) => run.finish(report) },
    {
      title: 'Every step was interrupted',
      run: async () => {
        expectKills(bootkubePlan(defaultSettings), kills);
        expectKills(installToDiskPlan(defaultSettings), kills);
        expectKills(postRebootPlan(defaultSettings), kills);
      },
    },
    {
      title: 'Check the cluster',
      run: (report) => run.checkCluster(report),
    },
  ]);
};

function expectKills<Context>({ agent, steps }: Plan<Context>, kills: Map<string, Kills>): void {
  const of = kills.get(agent);
  of?.stop();
  const missed = steps.map(({ name }) => name).filter((name) => !of?.inside.includes(name));
  if (missed.length === 0) return;
  throw new Failure('fatal', `${agent} was not killed in every step`, {
    found: `missed ${missed.join(', ')}; too late in ${of?.late.join(', ') || 'none'}`,
  });
}
