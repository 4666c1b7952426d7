import type { Command } from 'commander';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { failureFromData } from '../../../lib/base/errors/failure-data.ts';
import type { AgentLogOptions } from '../../../lib/base/log/agent-log.ts';
import { confirm } from '../../../lib/change/confirm.ts';
import { differences } from '../../../lib/change/identity/identity.ts';
import { identityChange, requestIdentity } from '../../../lib/change/identity/request.ts';
import { runAgentCommand } from '../../../lib/engine/steps/agent-command.ts';
import { statusPath } from '../../../lib/engine/steps/reporter.ts';
import { settingsFor } from '../../../lib/engine/steps/settings-for.ts';
import { readStatus } from '../../../lib/engine/steps/status.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { startAndWait } from '../../../lib/host/start-and-wait.ts';
import { type AskedIdentity, acceptedChange } from './accept.ts';
import { identityContext } from './context.ts';
import { identityPlan } from './plan.ts';

const UNIT = 'sno-identity.service';
const ASK_MS = 60_000;

type Write = (text: string) => void;

/** The command line of sno-identity: the common one, and `change`. Returns the exit code. */
export async function runIdentity(
  paths: HostPaths,
  args: readonly string[],
  output: AgentLogOptions = {},
): Promise<number> {
  const { settings, fault } = await settingsFor(paths, args);
  return runAgentCommand(
    {
      plan: identityPlan(settings),
      paths,
      settingsFault: fault,
      context: () => identityContext(paths),
      addCommands: (program, write) => addChange(program, paths, write),
    },
    args,
    output,
  );
}

const each = (value: string, values: readonly string[] = []) => [...values, value];

function addChange(program: Command, paths: HostPaths, write: Write): void {
  program
    .command('change')
    .description('give this host and its cluster another name, address or domain')
    .option('--hostname <name>', 'the name of the host and of its Node')
    .option('--address <ip>', 'an address that the host has; one for each family', each)
    .option('--cluster-name <name>', 'the first part of the domain of the cluster')
    .option('--base-domain <domain>', 'the rest of it')
    .option('--yes', 'do not ask')
    .action(async ({ yes, ...asked }: AskedIdentity & { readonly yes?: boolean }) => {
      const { from, to } = await acceptedChange(paths, asked, AbortSignal.timeout(ASK_MS));
      write(announcement(differences(from, to), from.hostname !== to.hostname));
      if (yes !== true) await confirm('change it', 'the change');
      const { id } = await requestIdentity(paths, { from, to });
      await startAndWait(UNIT);
      if ((await identityChange.last(paths))?.id !== id) throw await notEnded(paths);
      write('The identity is changed.\n');
    });
}

const announcement = (changes: readonly string[], isRenamed: boolean): string =>
  `${changes.join('\n')}
The API is unavailable for some minutes. ${
    isRenamed
      ? 'Every pod is deleted and, if it has a controller, created again;\nvolumes on this host stay, with their contents.'
      : 'Pods in the network of the host are created again.'
  }
`;

async function notEnded(paths: HostPaths): Promise<Failure> {
  const failure = (await readStatus(statusPath(paths, 'sno-identity')))?.failure;
  const cause = failure === undefined ? undefined : failureFromData(failure);
  return new Failure(cause?.kind ?? 'retry', 'the change has not ended', {
    code: cause?.code,
    fix: `See "sno-identity status". Run "systemctl start ${UNIT}" to continue it; a restart of the host continues it, too.`,
    cause,
  });
}
