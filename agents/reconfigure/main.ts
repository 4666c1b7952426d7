import type { Command } from 'commander';
import { standardOutput } from '../../lib/base/command-line.ts';
import { EXIT, type ExitCode, exitCodeFor } from '../../lib/base/errors/exit-codes.ts';
import { describeError } from '../../lib/base/errors/failure.ts';
import { asFailure } from '../../lib/base/errors/unexpected.ts';
import type { AgentLogOptions } from '../../lib/base/log/agent-log.ts';
import { inOneLine } from '../../lib/base/printable.ts';
import { confirm } from '../../lib/change/confirm.ts';
import { lastText } from '../../lib/change/ending.ts';
import { type ReconfigureRequest, siteChange } from '../../lib/change/site/request.ts';
import { publishIssue } from '../../lib/engine/console/publish-issue.ts';
import { journalPath, runAgentCommand } from '../../lib/engine/steps/agent-command.ts';
import { readJournal } from '../../lib/engine/steps/journal.ts';
import { Reporter, type ReporterOptions, statusPath } from '../../lib/engine/steps/reporter.ts';
import { settingsFor } from '../../lib/engine/steps/settings-for.ts';
import { type AgentStatus, readStatus } from '../../lib/engine/steps/status.ts';
import type { Plan } from '../../lib/engine/steps/step.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { restartHost } from '../../lib/host/restart-host.ts';
import type { Settings } from '../../lib/host/settings.ts';
import { backUpNow } from '../steps/backup/on-request.ts';
import { ofKind } from '../steps/of-kind.ts';
import { arrive } from './arrive.ts';
import { askAgain } from './ask-again.ts';
import { consoleLines } from './console.ts';
import { type ReconfigureContext, reconfigureContext } from './context.ts';
import { reconfigureOpenShiftPlan } from './openshift/plan.ts';
import { paceOf } from './pace.ts';
import { reconfigurePlan } from './plan.ts';
import { runPrepare } from './prepare/main.ts';
import { runReadMedium } from './read-medium.ts';
import { runSignal } from './run-signal.ts';
import { type Signal, showSignal } from './signal.ts';
import { tellLast } from './tell-medium.ts';
import { runValidate } from './validate/main.ts';
import { commit, rollback } from './way-back.ts';
import { type WayBackEnd, wayBackEnd } from './way-back-end.ts';
import { runWriteMedium } from './write-medium.ts';

/** Waiting for udev, asking a URL, reading the medium, verifying it. */
const ARRIVE_MS = 270_000;

const AGENT = 'reconfigure';
/** On standard error: the unit connects it to the console. */
const seen = consoleLines(standardOutput.writeError);

type Write = (text: string) => void;

type RunPart = (
  paths: HostPaths,
  args: readonly string[],
  output?: AgentLogOptions,
) => Promise<number>;

/**
 * What a factory does before a host is shipped: `reconfigure prepare` and `reconfigure validate`. Each is a plan with a
 * journal of its own, and receives the arguments behind its name.
 */
const FACTORY: Readonly<Record<string, RunPart>> = {
  prepare: runPrepare,
  validate: runValidate,
};

/**
 * The command line of reconfigure: the common one, and the commands of the factory. `run` is what the unit runs at
 * each boot and when a site volume is inserted. Returns the exit code.
 */
export async function runReconfigure(
  paths: HostPaths,
  args: readonly string[],
  output: AgentLogOptions = {},
): Promise<number> {
  const [name = '', ...rest] = args;
  const factory = Object.hasOwn(FACTORY, name) ? FACTORY[name] : undefined;
  if (factory !== undefined) return factory(paths, rest, output);
  // Without rights: it reads neither configuration nor state.
  if (name === 'read-medium') return runReadMedium(rest);
  if (name === 'write-medium') return runWriteMedium(rest);
  if (name === 'signal') return runSignal(paths, rest);
  if (name === 'ask') return ask(paths, output);
  const { settings, fault } = await settingsFor(paths, args);
  const planOf = await ofKind(paths, reconfigurePlan, reconfigureOpenShiftPlan);
  const plan = planOf(settings);
  let reporting: ReporterOptions = {};
  if (name === 'run' && !rest.includes('--help')) {
    const looked = await look(paths, plan, output);
    if (typeof looked === 'number') {
      if (looked !== EXIT.done) await showSignal(paths, 'fail');
      return looked;
    }
    await showSignal(paths, 'accepted');
    reporting = { pace: paceOf(plan, await readJournal(journalPath(paths, AGENT)), looked), seen };
  }
  const code = await runAgentCommand(
    {
      plan,
      paths,
      settingsFault: fault,
      context: () => reconfigureContext(paths),
      reporting,
      reboot: restartHost,
      about: async () => {
        const last = await siteChange.last(paths);
        const what = `the site configuration ${last?.volume.serial}`;
        const wayBack = await wayBackEnd(paths, settings);
        const text = last === undefined ? '' : lastText(what, last);
        return {
          text: text + (wayBack === undefined ? '' : wayBackText(wayBack)),
          data: { last: last ?? null, wayBack: wayBack ?? null },
        };
      },
      addCommands: (program, write) => {
        addRollback(program, paths, settings, write);
        addCommit(program, paths, write);
      },
    },
    args,
    output,
  );
  if (name !== 'run') return code;
  const signal = signalOf(await readStatus(statusPath(paths, AGENT)));
  if (signal !== undefined) await showSignal(paths, signal);
  const untold = await tellLast(paths);
  if (untold !== undefined) standardOutput.write(`The result is not on the volume: ${untold}\n`);
  return code;
}

/** A host that restarts or tries again has nothing to tell yet. */
function signalOf(status: AgentStatus | undefined): Signal | undefined {
  if (status?.state === 'done') return 'pass';
  const isFinal = status?.state === 'failed' && status.exitCode !== EXIT.retryable;
  return isFinal ? 'fail' : undefined;
}

const wayBackText = ({ until, because }: WayBackEnd): string =>
  `way back: "reconfigure rollback" until ${until}, when ${because}\n`;

/** For the timer. Its unit keeps from the journal what is less than a notice. */
async function ask(
  paths: HostPaths,
  { write = standardOutput.write }: AgentLogOptions,
): Promise<ExitCode> {
  const line = await askAgain(paths);
  if (line !== undefined) write(`<5>${inOneLine(line)}\n`);
  return EXIT.done;
}

/** Looks for a site volume. The exit code if there is nothing to carry out. */
async function look(
  paths: HostPaths,
  plan: Plan<ReconfigureContext>,
  { write = standardOutput.write }: AgentLogOptions,
): Promise<ExitCode | ReconfigureRequest> {
  try {
    const arrival = await arrive(paths, AbortSignal.timeout(ARRIVE_MS));
    if (arrival.kind === 'request') return arrival.request;
    write(`${arrival.note}\n`);
    await publishIssue(paths);
    return EXIT.done;
  } catch (error) {
    const failure = asFailure(error);
    const code = exitCodeFor(failure);
    // For the login prompt and "reconfigure status", too.
    const reporter = new Reporter(plan, paths, { seen });
    await reporter.agentBegins();
    await reporter.agentEnds('failed', code, failure);
    return code;
  }
}

function addRollback(program: Command, paths: HostPaths, settings: Settings, write: Write): void {
  program
    .command('rollback')
    .description('bring the host back to what it was before its site: restarts it')
    .option('--yes', 'do not ask')
    .action(async ({ yes }: { readonly yes?: boolean }) => {
      const { what, go } = await rollback(paths, settings, new Date());
      // A control plane that does not work is a reason to go back, and must not prevent it.
      const kept = await backUpNow(paths).then(
        (backup) => `It is in the backup ${backup}.`,
        (error: unknown) => `It will be lost: ${describeError(error)}`,
      );
      write(`${what} is taken back, with everything that was written to the API since. ${kept}\n`);
      if (yes !== true) await confirm('bring the host back', 'the way back');
      write('The host restarts.\n');
      await go();
    });
}

function addCommit(program: Command, paths: HostPaths, write: Write): void {
  program
    .command('commit')
    .description('give up the way back')
    .action(async () => write(`${await commit(paths)} stays.\n`));
}
