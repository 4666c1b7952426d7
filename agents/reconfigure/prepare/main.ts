import { Command } from 'commander';
import { runCommandLine } from '../../../lib/base/command-line.ts';
import { EXIT, type ExitCode } from '../../../lib/base/errors/exit-codes.ts';
import type { AgentLogOptions } from '../../../lib/base/log/agent-log.ts';
import { requireAlone } from '../../../lib/change/exclusion.ts';
import { acceptUnknownRelease } from '../../../lib/config/openshift/judge-release.ts';
import { runAgentCommand } from '../../../lib/engine/steps/agent-command.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { readSettings } from '../../../lib/host/settings.ts';
import { readFactoryPolicy } from '../../../lib/relocation/relocatable/policy.ts';
import { NEVER_RUN } from '../openshift/never-run.ts';
import { fixedNode } from '../openshift/node.ts';
import { type AskedPreparation, choicesFor, requirePreparable } from './accept.ts';
import { factoryHost } from './factory-host.ts';
import { requirePreparableOpenShift, requireUndoable } from './openshift/accept.ts';
import { bringMachineConfig } from './openshift/bring-machine-config.ts';
import { openShiftPreparePlan, openShiftUndoPlan } from './openshift/plan.ts';
import { preparePlan, undoPlan } from './plan.ts';

const each = (value: string, values: readonly string[] = []) => [...values, value];

/** `reconfigure prepare [--undo]`. Returns the exit code. */
export async function runPrepare(
  paths: HostPaths,
  args: readonly string[],
  output: AgentLogOptions = {},
): Promise<ExitCode> {
  let code: ExitCode = EXIT.done;
  const program = new Command('reconfigure prepare')
    .description('make this node relocatable: it keeps its address and its name at every site')
    .addHelpText('after', `\n${NEVER_RUN}.`)
    .exitOverride()
    .option('--signer <file>', 'public keys that may sign a site configuration; several', each)
    .option('--allow-unsigned', 'take a site configuration that nobody has signed, too')
    .option('--no-allow-unsigned', 'take only what is signed, which is the default')
    .option(
      '--site-url <url>',
      'where the node asks for <serial>.site; dhcp: where option 224 says',
    )
    .option('--shipping-days <n>', 'how long it may be under way')
    .option(...acceptUnknownRelease)
    .option(
      '--allow-restart',
      'on OpenShift: give a node of any installer the MachineConfig that it needs, with one restart',
    )
    .option('--undo', 'make the node one of this site again')
    .action(async ({ undo, ...asked }: AskedPreparation & { readonly undo?: boolean }) => {
      code = undo === true ? await takeBack(paths, output) : await prepare(paths, asked, output);
    });
  return runCommandLine(program, args, () => code);
}

async function prepare(paths: HostPaths, asked: AskedPreparation, output: AgentLogOptions) {
  const settings = await readSettings(paths);
  const deadlineMs = settings.relocatableMs;
  const limits = { signal: AbortSignal.timeout(deadlineMs), deadlineMs };
  const host = await factoryHost(paths, limits.signal);
  if (host.cluster.controlPlane === 'openshift') {
    const isUnknownReleaseAccepted =
      asked.acceptUnknownRelease ??
      (await readFactoryPolicy(paths))?.unknownReleaseAccepted === true;
    const fixed = await fixedNode(paths);
    if (fixed === undefined) {
      const mayRestart = asked.allowRestart === true;
      return bringMachineConfig(host, { mayRestart, isUnknownReleaseAccepted }, limits);
    }
    const node = await requirePreparableOpenShift(host, fixed, isUnknownReleaseAccepted, limits);
    const choices = await choicesFor(host, asked);
    const context = { ...host, hostname: () => node.nodeName, node, choices };
    return runAlone(paths, { plan: openShiftPreparePlan(settings), context }, output);
  }
  await requirePreparable(host, asked);
  const choices = await choicesFor(host, asked);
  const context = { ...host, choices };
  return runAlone(paths, { plan: preparePlan(settings), context }, output);
}

async function takeBack(paths: HostPaths, output: AgentLogOptions) {
  const settings = await readSettings(paths);
  const host = await factoryHost(paths, AbortSignal.timeout(settings.relocatableMs));
  const isOpenShift = host.cluster.controlPlane === 'openshift';
  if (isOpenShift) await requireUndoable(host);
  const plan = isOpenShift ? openShiftUndoPlan(settings) : undoPlan(settings);
  return runAlone(paths, { plan, context: host }, output);
}

/** Judged again under the lock of the agent: since it was judged first, minutes can have passed. */
const runAlone = <Context>(
  paths: HostPaths,
  { plan, context }: { readonly plan: Plan<Context>; readonly context: Context },
  output: AgentLogOptions,
): Promise<ExitCode> =>
  runAgentCommand(
    {
      plan,
      paths,
      context: async () => {
        await requireAlone(paths, plan.agent);
        return context;
      },
    },
    ['run'],
    output,
  );
