import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { AgentLogOptions } from '../../../lib/base/log/agent-log.ts';
import { runAgent } from '../../../lib/engine/steps/agent-command.ts';
import { exists } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { distrustImages } from '../../../lib/payload/bring.ts';
import { payloadFile } from '../../../lib/payload/payload.ts';
import { hostContext } from '../../steps/host-context.ts';
import { payloadPlan } from './plan.ts';

/** The command line of sno-payload: the common one, and `import-again`. Returns the exit code. */
export async function runPayload(
  paths: HostPaths,
  args: readonly string[],
  output: AgentLogOptions = {},
): Promise<number> {
  return runAgent(paths, args, output, (settings) => ({
    plan: payloadPlan(settings),
    context: () => hostContext(paths),
    addCommands: (program, write) => {
      program
        .command('import-again')
        .description(
          "have the next start of the host compare the runtime's images with the payload, and import those that differ",
        )
        .action(async () => {
          await requirePayload(paths);
          await distrustImages(paths);
          write('Restart the host: "systemctl reboot". Until then nothing is changed.\n');
        });
    },
  }));
}

async function requirePayload({ payload }: HostPaths): Promise<void> {
  const path = join(payload, payloadFile);
  if (await exists(path)) return;
  throw new Failure('usage', 'this host has no payload to import from', {
    expected: path,
    found: 'no such file',
    fix: 'On OpenShift, images come from a registry: "podman rmi IMAGE" of the damaged one has it pulled again.',
  });
}
