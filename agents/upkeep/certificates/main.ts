import { type Command, InvalidArgumentError } from 'commander';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { AgentLogOptions } from '../../../lib/base/log/agent-log.ts';
import { journalEntry } from '../../../lib/base/log/journal-event.ts';
import { JournaldWriter } from '../../../lib/base/log/journald.ts';
import { readCluster } from '../../../lib/config/cluster/read-cluster.ts';
import { runAgent } from '../../../lib/engine/steps/agent-command.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { inventoryTable } from '../../../lib/pki/inventory.ts';
import { ADMINISTRATOR_DAYS, issueAdministrator } from '../../steps/certificates/administrator.ts';
import { listCertificates } from '../../steps/certificates/list.ts';
import { hostContext } from '../../steps/host-context.ts';
import { certificatesPlan } from './plan.ts';

/** Writes one entry into the journal; false if that failed. */
type Audit = Pick<JournaldWriter, 'send'>;

/** Adds commands of another agent to a command line. */
type AddCommands = (program: Command, paths: HostPaths, write: (text: string) => void) => void;

/** The command line of sno-certificates: the common one, `list`, `kubeconfig` and the rotations. Returns the exit code. */
export async function runCertificates(
  paths: HostPaths,
  args: readonly string[],
  addRotations: AddCommands,
  output: AgentLogOptions = {},
): Promise<number> {
  return runAgent(paths, args, output, (settings) => ({
    plan: certificatesPlan(settings),
    context: () => hostContext(paths),
    addCommands: (program, write) => {
      addList(program, paths, write);
      addKubeconfig(program, paths, write, output.journald ?? new JournaldWriter());
      addRotations(program, paths, write);
    },
  }));
}

function addList(program: Command, paths: HostPaths, write: (text: string) => void): void {
  program
    .command('list')
    .description('print every certificate and key of this host, and who renews it')
    .option('--json', 'for programs')
    .action(async ({ json }: { json?: boolean }) => {
      const inventory = await listCertificates(paths);
      write(json === true ? `${JSON.stringify(inventory, null, 2)}\n` : inventoryTable(inventory));
    });
}

function addKubeconfig(
  program: Command,
  paths: HostPaths,
  write: (text: string) => void,
  audit: Audit,
): void {
  const { default: usual, maximum } = ADMINISTRATOR_DAYS;
  program
    .command('kubeconfig')
    .description("issue an administrator's certificate for a request, and print its kubeconfig")
    .requiredOption('--csr <file>', 'certificate request (PKCS#10, PEM); its key stays where it is')
    .option('--days <n>', `how long it is valid, at most ${maximum} days`, wholeDays, usual)
    .action(async ({ csr, days }: { csr: string; days: number }) => {
      const cluster = await readCluster(paths);
      const issued = await issueAdministrator(paths, cluster, { path: csr, days, now: new Date() });
      await recorded(audit, `${issued.record}, requested by ${caller()}`);
      write(issued.kubeconfig);
    });
}

function wholeDays(text: string): number {
  const days = Number(text);
  if (Number.isInteger(days) && days >= 1 && days <= ADMINISTRATOR_DAYS.maximum) return days;
  throw new InvalidArgumentError(`expected a whole number from 1 to ${ADMINISTRATOR_DAYS.maximum}`);
}

/** The user behind sudo, as sudo reports it. */
const caller = (): string => process.env.SUDO_USER ?? `uid ${process.getuid?.() ?? 'unknown'}`;

/** Nothing is issued without a trace. */
async function recorded(audit: Audit, what: string): Promise<void> {
  const origin = { agent: 'sno-certificates', pid: process.pid };
  if (await audit.send(journalEntry('administrator-issued', origin, what, { what }))) return;
  throw new Failure('retry', 'the certificate is not issued, since the journal cannot record it', {
    expected: 'a running systemd-journald',
  });
}
