import { Command, CommanderError } from 'commander';
import { standardOutput } from '../../../lib/base/command-line.ts';
import { EXIT, type ExitCode, exitCodeFor } from '../../../lib/base/errors/exit-codes.ts';
import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import type { AgentLogOptions } from '../../../lib/base/log/agent-log.ts';
import { lastText } from '../../../lib/change/ending.ts';
import { startAndFollow } from '../../../lib/change/start-and-follow.ts';
import { type UpdateResult, updateChange } from '../../../lib/change/update/request.ts';
import { runAgentCommand } from '../../../lib/engine/steps/agent-command.ts';
import { settingsFor } from '../../../lib/engine/steps/settings-for.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { acceptUpdate } from './accept.ts';
import { prepareUpdate } from './again.ts';
import { failed } from './conclude.ts';
import { describeUpdate, updateContext } from './context.ts';
import { updatePlan } from './plan.ts';

const PREPARE_MS = 120_000;
const ACCEPT_MS = 300_000;

type Write = (text: string) => void;

/**
 * The command line of sno-update: the common one, `run --from` and `prepare`. `run` without an option is what the
 * unit runs; `run --from` requests an update and has the unit do it. Returns the exit code.
 */
export async function runUpdate(
  paths: HostPaths,
  args: readonly string[],
  output: AgentLogOptions = {},
): Promise<number> {
  const { write = standardOutput.write } = output;
  if (args[0] === 'run' && args.some((arg) => /^--(from|no-wait)\b/.test(arg))) {
    return requested(paths, args, write);
  }
  const { settings, fault } = await settingsFor(paths, args, ['prepare']);
  return runAgentCommand(
    {
      plan: updatePlan(settings),
      paths,
      settingsFault: fault,
      context: () => updateContext(paths),
      about: async () => {
        const last = await updateChange.last(paths);
        const text = last === undefined ? '' : lastText(describeUpdate(last), last);
        return { text, data: { last: last ?? null } };
      },
      addCommands: (program, writeOut) => addPrepare(program, paths, writeOut),
    },
    args,
    output,
  );
}

async function requested(
  paths: HostPaths,
  args: readonly string[],
  write: Write,
): Promise<ExitCode> {
  const program = new Command('sno-update').exitOverride();
  program
    .command('run')
    .description('update this host, and go back if it does not settle')
    .requiredOption('--from <folder-or-url>', 'what "sno create update" has written')
    .option('--no-wait', 'do not wait for its end')
    .action(async ({ from, wait }: { from: string; wait: boolean }) =>
      update(paths, { from, wait }, write),
    );
  try {
    await program.parseAsync([...args], { from: 'user' });
    return EXIT.done;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    standardOutput.writeError(`sno-update: ${describeError(error)}\n`);
    return exitCodeFor(error);
  }
}

async function update(
  paths: HostPaths,
  { from, wait }: { readonly from: string; readonly wait: boolean },
  write: Write,
): Promise<void> {
  let request = await updateChange.read(paths);
  const isContinued = request !== undefined;
  if (request === undefined) {
    request = await acceptUpdate(paths, from, AbortSignal.timeout(ACCEPT_MS));
    if (request === undefined) {
      write('This host runs it already.\n');
      return;
    }
    await updateChange.write(paths, request);
    write(`Begun: ${describeUpdate(request)}, signed by ${request.signedBy}.\n`);
  } else if (request.from === from) {
    write(`Continued: ${describeUpdate(request)}.\n`);
  } else {
    throw new Failure('usage', `${describeUpdate(request)} is under way`, {
      fix: 'Wait for its end: see "sno-update status".',
    });
  }
  const { id } = request;
  const begun = {
    agent: 'sno-update',
    what: 'the update',
    isContinued,
    isWaited: wait,
    isIts: (ended: UpdateResult) => ended.id === id,
  };
  const result = await startAndFollow(updateChange, paths, begun, write);
  if (result === undefined) return;
  if (result.outcome !== 'updated') throw failed(result, result.outcome, result.failure);
  write(lastText(describeUpdate(result), result));
}

/** Called by the release before it, never by people. */
function addPrepare(program: Command, paths: HostPaths, write: Write): void {
  program
    .command('prepare', { hidden: true })
    .requiredOption('--payload <folder>')
    .requiredOption('--executable <file>')
    .action(async ({ payload, executable }: { payload: string; executable: string }) => {
      const signal = AbortSignal.timeout(PREPARE_MS);
      const prepared = await prepareUpdate(paths, { payloadFolder: payload, executable }, signal);
      write(`${JSON.stringify(prepared)}\n`);
    });
}
