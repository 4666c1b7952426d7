import { exists } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { Settings } from '../../lib/host/settings.ts';
import { readSettings } from '../../lib/host/settings.ts';
import { journalPath, runAgentCommand } from '../../lib/steps/agent-command.ts';
import { readJournal } from '../../lib/steps/journal.ts';
import type { Plan } from '../../lib/steps/step.ts';
import { certificatesPlan } from './certificates/plan.ts';
import { type InstalledContext, installedContext } from './context.ts';
import { deferredContext } from './deferred/context.ts';
import { deferredPlan } from './deferred/plan.ts';
import { payloadPlan } from './payload/plan.ts';
import { postRebootPlan } from './plan.ts';
import { recordPath } from './record.ts';
import { restorePlan } from './restore/plan.ts';
import { retire } from './retire.ts';

/** Runs one of the installed host's plans by its command line. */
const runner =
  (plan: (settings: Settings) => Plan<InstalledContext>) =>
  async (paths: HostPaths, args: readonly string[]) =>
    runAgentCommand(
      { plan: plan(await readSettings(paths)), paths, context: () => installedContext(paths) },
      args,
    );

export const runPayload = runner(payloadPlan);
export const runRestore = runner(restorePlan);
export const runCertificates = runner(certificatesPlan);

export async function runDeferred(paths: HostPaths, args: readonly string[]) {
  return runAgentCommand(
    {
      plan: deferredPlan(await readSettings(paths)),
      paths,
      runOptions: [
        {
          flags: '--expires-in-hours <n>',
          description: 'wait that long from now, also after restarts',
        },
      ],
      context: (_log, options) => deferredContext(paths, options),
    },
    args,
  );
}

/** With the record written and its journal gone or begun anew, all that can be left is to retire. */
export async function runPostReboot(paths: HostPaths, args: readonly string[]) {
  const isPlainRun = args.length === 1 && args[0] === 'run';
  const retiring = isPlainRun && (await isRetiring(paths));
  return runner(postRebootPlan)(paths, retiring ? ['run', '--from', retire.name] : args);
}

async function isRetiring(paths: HostPaths): Promise<boolean> {
  const entries = await readJournal(journalPath(paths, 'post-reboot'));
  const onlyRetire = entries.every(({ step }) => step === retire.name);
  return onlyRetire && (await exists(recordPath({ paths })));
}
