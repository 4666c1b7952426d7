import type { HostPaths } from '../../lib/host/paths.ts';
import { readSettings, type Settings } from '../../lib/host/settings.ts';
import { rebootHost } from '../../lib/host/systemd.ts';
import { runAgentCommand } from '../../lib/steps/agent-command.ts';
import type { Plan } from '../../lib/steps/step.ts';
import { approveCsrPlan } from './approve-csr/plan.ts';
import { type LiveContext, liveContext } from './context.ts';
import { installToDiskPlan } from './install-to-disk/plan.ts';
import { bootkubePlan } from './plan.ts';
import { progressPlan } from './progress/plan.ts';

/** Runs one of the live host's plans by its command line. */
const runner =
  (plan: (settings: Settings) => Plan<LiveContext>) =>
  async (paths: HostPaths, args: readonly string[]) =>
    runAgentCommand(
      {
        plan: plan(await readSettings(paths)),
        paths,
        context: () => liveContext(paths),
        reboot: () => rebootHost(AbortSignal.timeout(60_000)),
      },
      args,
    );

export const runBootkube = runner(bootkubePlan);
export const runInstallToDisk = runner(installToDiskPlan);
export const runApproveCsr = runner(approveCsrPlan);
export const runProgress = runner(progressPlan);
