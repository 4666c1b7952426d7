import type { Command } from 'commander';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { AgentLogOptions } from '../../../lib/base/log/agent-log.ts';
import {
  type AuthorOptions,
  acceptedAuthor,
} from '../../../lib/change/backup/portable/accepted-author.ts';
import { backupList } from '../../../lib/change/backup/store.ts';
import { changeUnderWay } from '../../../lib/change/exclusion.ts';
import { measureRun } from '../../../lib/engine/metrics/run.ts';
import { runAgent } from '../../../lib/engine/steps/agent-command.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { backupContext } from '../../steps/backup/context.ts';
import { backUpNow } from '../../steps/backup/on-request.ts';
import { compactDatabase } from './compact.ts';
import { backupMetrics } from './metrics.ts';
import { backupPlan } from './plan.ts';
import { type PortableOptions, plannedExport } from './portable.ts';
import { requestRestore } from './restore/command.ts';
import { restoreOnNewHost } from './restore/new-host.ts';
import { backupTable } from './table.ts';

type Write = (text: string) => void;

/** The command line of sno-backup: the common one, `list`, `create`, `restore` and `compact`. Returns the exit code. */
export async function runBackup(
  paths: HostPaths,
  args: readonly string[],
  output: AgentLogOptions = {},
): Promise<number> {
  return runAgent(paths, args, output, (settings) => ({
    plan: backupPlan(settings),
    context: () => backupContext(paths),
    measure: (ended) =>
      measureRun({ paths, settings }, 'sno-backup', ended, () => backupMetrics(paths)),
    addCommands: (program, write) => {
      addList(program, paths, write);
      addCreate(program, paths, write);
      addRestore(program, paths, write);
      addCompact(program, paths, write);
    },
  }));
}

function addList(program: Command, paths: HostPaths, write: Write): void {
  program
    .command('list')
    .description('print the backups of this host, oldest first')
    .option('--json', 'for programs')
    .action(async ({ json }: { json?: boolean }) => {
      const list = await backupList(paths);
      write(json === true ? `${JSON.stringify(list, null, 2)}\n` : backupTable(list));
    });
}

function addCreate(program: Command, paths: HostPaths, write: Write): void {
  program
    .command('create')
    .description('make a backup now, by the unit of the timer')
    .option('--to <file>', 'write it into this new file as well, encrypted, for another host')
    .option('--recipient <age1...>', 'with --to: who can read it, a public key of age', each)
    .action(async (options: PortableOptions) => {
      const underWay = await changeUnderWay(paths);
      if (underWay !== undefined) throw underWay;
      const exported = await plannedExport(paths, options);
      const name = await backUpNow(paths);
      write(`${name}\n`);
      if (exported !== undefined) write(await exported(name));
    });
}

function addCompact(program: Command, paths: HostPaths, write: Write): void {
  program
    .command('compact')
    .description('compact and defragment etcd, and take its alarm NOSPACE back')
    .action(async () => write(await compactDatabase(paths)));
}

const each = (value: string, values: readonly string[] = []) => [...values, value];

function addRestore(program: Command, paths: HostPaths, write: Write): void {
  program
    .command('restore')
    .description('replace the database of this host by that of a backup')
    .option('--from <name>', 'name of the backup, as printed by list')
    .option('--new-host', 'continue the cluster of a lost host on this one; with --backup')
    .option('--backup <file>', 'what "sno-backup create --to" wrote on the lost host')
    .option('--identity <file>', 'the secret key of a recipient, as age-keygen wrote it')
    .option(
      '--signer <file>',
      "auth/backup-signer.json of the lost host, from its administrator's laptop",
    )
    .option('--accept-unsigned <cluster-id>', 'instead of --signer: whoever made it, this once')
    .option('--keep-authorities', 'with --new-host: take over the CAs of the lost host')
    .option('--yes', 'do not ask')
    .option('--no-wait', 'do not wait for its end')
    .action(async ({ from, yes, wait, ...others }: RestoreOptions) => {
      const lost = lostHost(from, others);
      if (lost !== undefined) {
        const author = await acceptedAuthor(others);
        const options = { ...lost, author, isConfirmed: yes === true, isWaited: wait };
        return restoreOnNewHost(paths, options, write);
      }
      const asked = { from: from ?? '', isConfirmed: yes === true, isWaited: wait };
      await requestRestore(paths, asked, write);
    });
}

interface RestoreOptions extends AuthorOptions {
  readonly from?: string;
  readonly newHost?: boolean;
  readonly backup?: string;
  readonly identity?: string;
  readonly keepAuthorities?: boolean;
  readonly yes?: boolean;
  readonly wait: boolean;
}

/** Which lost host is to be continued; undefined for a backup of this one. @throws Failure (usage) */
function lostHost(
  from: string | undefined,
  {
    newHost = false,
    backup,
    identity,
    keepAuthorities,
    signer,
    acceptUnsigned,
  }: Omit<RestoreOptions, 'from' | 'yes' | 'wait'>,
) {
  const others = [backup, identity, keepAuthorities, signer, acceptUnsigned];
  if (from !== undefined && !newHost && others.every((each) => each === undefined)) return;
  if (from === undefined && newHost && backup !== undefined && identity !== undefined) {
    return { backup, identity, keepsAuthorities: keepAuthorities === true };
  }
  throw new Failure('usage', 'the options do not say what is to be restored', {
    expected:
      '--from NAME, or --new-host --backup FILE --identity FILE with --signer FILE or --accept-unsigned CLUSTER-ID, and with or without --keep-authorities',
  });
}
