import { Command } from 'commander';
import { runCommandLine } from '../../../lib/base/command-line.ts';
import { EXIT, type ExitCode } from '../../../lib/base/errors/exit-codes.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { AgentLogOptions } from '../../../lib/base/log/agent-log.ts';
import { beginChange } from '../../../lib/change/exclusion.ts';
import { runAgentCommand } from '../../../lib/engine/steps/agent-command.ts';
import { exists, removeFile } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { sealedPath } from '../../../lib/host/paths.ts';
import { readSettings } from '../../../lib/host/settings.ts';
import { startUnit, unitProperties } from '../../../lib/host/systemd.ts';
import { NEVER_RUN } from '../openshift/never-run.ts';
import { KUBELET } from '../openshift/units.ts';
import { validateContext } from './context.ts';
import { validatePlan } from './plan.ts';

const START_MS = 30_000;

/** `reconfigure validate [--no-seal | --unseal]`. Returns the exit code. */
export async function runValidate(
  paths: HostPaths,
  args: readonly string[],
  output: AgentLogOptions = {},
): Promise<ExitCode> {
  let code: ExitCode = EXIT.done;
  const program = new Command('reconfigure validate')
    .description('judge whether this node can be shipped, write a report, and seal it')
    .addHelpText('after', `\n${NEVER_RUN}.`)
    .exitOverride()
    .option('--no-seal', 'leave the node as it is')
    .option('--unseal', 'judge nothing: break the seal, and start the kubelet')
    .action(async (options: { readonly seal: boolean; readonly unseal?: boolean }) => {
      if (options.unseal === true) return unseal(paths);
      // Refused before a journal exists.
      const context = await validateContext(paths);
      const plan = validatePlan(await readSettings(paths), context.cluster, {
        seals: options.seal,
        isSealed: await exists(sealedPath(paths)),
      });
      code = await runAgentCommand({ plan, paths, context: async () => context }, ['run'], output);
    });
  return runCommandLine(program, args, () => code);
}

async function unseal(paths: HostPaths): Promise<void> {
  const signal = AbortSignal.timeout(START_MS);
  const isRemoved = await beginChange(paths, () => removeFile(sealedPath(paths)));
  // Without a seal and a kubelet, an earlier call was killed in between.
  if (!isRemoved && (await isActive(KUBELET, signal))) {
    throw new Failure('usage', 'this node is not sealed; nothing was changed');
  }
  await startUnit(KUBELET, signal);
}

const isActive = async (unit: string, signal: AbortSignal): Promise<boolean> =>
  (await unitProperties(unit, ['ActiveState'], signal)).ActiveState === 'active';
