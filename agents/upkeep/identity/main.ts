import type { Command } from 'commander';
import type { AgentLogOptions } from '../../../lib/base/log/agent-log.ts';
import { confirm } from '../../../lib/change/confirm.ts';
import { beginChange } from '../../../lib/change/exclusion.ts';
import { differences } from '../../../lib/change/identity/identity.ts';
import {
  type IdentityRequest,
  identityChange,
  requestIdentity,
} from '../../../lib/change/identity/request.ts';
import { startAndFollow } from '../../../lib/change/start-and-follow.ts';
import { runAgent } from '../../../lib/engine/steps/agent-command.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { type AskedIdentity, acceptedChange } from './accept.ts';
import { identityContext } from './context.ts';
import { identityPlan } from './plan.ts';

const ASK_MS = 60_000;

type Write = (text: string) => void;

/** The command line of sno-identity: the common one, and `change`. Returns the exit code. */
export async function runIdentity(
  paths: HostPaths,
  args: readonly string[],
  output: AgentLogOptions = {},
): Promise<number> {
  return runAgent(paths, args, output, (settings) => ({
    plan: identityPlan(settings),
    context: () => identityContext(paths),
    addCommands: (program, write) => addChange(program, paths, write),
  }));
}

interface Options {
  readonly yes?: boolean;
  readonly wait: boolean;
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
    .option('--no-wait', 'do not wait for its end')
    .action(async ({ yes, wait, ...asked }: AskedIdentity & Options) => {
      const { from, to } = await acceptedChange(paths, asked, AbortSignal.timeout(ASK_MS));
      write(announcement(differences(from, to), from.hostname !== to.hostname));
      if (yes !== true) await confirm('change it', 'the change');
      const { id } = await beginChange(paths, () => requestIdentity(paths, { from, to }));
      const begun = {
        agent: 'sno-identity',
        what: 'the change',
        isWaited: wait,
        isIts: (ended: IdentityRequest) => ended.id === id,
      };
      const ended = await startAndFollow(identityChange, paths, begun, write);
      if (ended !== undefined) write('The identity is changed.\n');
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
