import { Command, CommanderError, Option } from 'commander';
import { EXIT } from '../lib/base/errors/exit-codes.ts';
import { describeError, Failure } from '../lib/base/errors/failure.ts';
import { commands } from './commands/commands.ts';
import { versionText } from './explain/versions.ts';
import { habitOf, usualOrder } from './habits.ts';
import { LEVELS } from './process/log-file.ts';
import { Stopped } from './process/stopped.ts';
import { isSystemError, systemErrorText } from './process/system-error.ts';
import type { OutsideSno, Surroundings } from './surroundings.ts';

/** Of a description beside the name of its option. */
const LEAST_COLUMNS = 20;

const AFTER_HELP = `
--dir and --log-level may also be written before the command.
Exit codes: 0 done; 2 invalid input or usage, nothing written; 3 deadline;
4 the installation failed; 128+N stopped by signal N; 1 other.`;

/** For help that is not printed to a terminal. */
const DEFAULT_COLUMNS = 80;

/**
 * The command line of `sno`; `args` without the program's own name. Never throws.
 * Returns the exit code: 0 done; 2 the input or the usage is wrong and nothing was
 * written; 3 a deadline; 4 the installation failed; 128 + N stopped by signal N; 1
 * anything else.
 */
export async function runSno(args: readonly string[], outside: OutsideSno): Promise<number> {
  const { signal, complain } = outside;
  const ordered = usualOrder(args);
  const habit = habitOf(ordered);
  if (habit !== undefined) {
    complain(`sno: ${habit}`);
    return EXIT.usage;
  }
  let running: string[] = [];
  const sno = program(outside).hook('preAction', (_sno, command) => {
    running = namesOf(command);
  });
  try {
    await sno.parseAsync(ordered, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has already printed its own message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (signal.aborted) return stopped(signal.reason, running, complain);
    complain(`sno: ${isSystemError(error) ? systemErrorText(error) : describeError(error)}`);
    return exitCodeOf(error, running);
  }
}

/** `create single-node-iso` as words. */
function namesOf(command: Command): string[] {
  const { parent } = command;
  return parent === null ? [] : [...namesOf(parent), command.name()];
}

function stopped(
  reason: unknown,
  running: readonly string[],
  complain: Surroundings['complain'],
): number {
  const { quiet, message, exitCode } =
    reason instanceof Stopped ? reason : { quiet: false, message: 'was stopped', exitCode: 1 };
  const removed = running[0] === 'create' ? '; partial output was removed' : '';
  if (!quiet) complain(`sno: ${running.join(' ')} ${message}${removed}`);
  return exitCode;
}

/** 4 is only for a failed installation; what fails on this machine can be retried. */
function exitCodeOf(error: unknown, [command]: readonly string[]): number {
  const kind = error instanceof Failure ? error.kind : undefined;
  if (kind === 'usage') return EXIT.usage;
  if (kind === 'deadline') return EXIT.deadline;
  return kind === 'fatal' && command === 'wait-for' ? EXIT.fatal : EXIT.retryable;
}

/** The command line itself, as described by help, man page and completion. */
export function program(outside: OutsideSno): Command {
  const surroundings: Surroundings = {
    answers: async function* () {},
    ...outside,
    notice: (text) => outside.complain(`Notice: ${text}`),
  };
  const sno = new Command('sno')
    .description('create and follow the installation of a single-node OpenShift or Kubernetes host')
    .configureOutput({
      writeOut: (text) => surroundings.print(text.trimEnd()),
      writeErr: (text) => surroundings.complain(text.trimEnd()),
      getOutHelpWidth: () => surroundings.columns ?? DEFAULT_COLUMNS,
    })
    .version(versionText())
    .configureHelp({ minWidthToWrap: LEAST_COLUMNS })
    .exitOverride()
    .addHelpText('after', AFTER_HELP);
  for (const add of commands) add(sno, surroundings);
  for (const command of leavesOf(sno)) acceptLogLevel(command);
  return sno;
}

const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);

/** As openshift-install has it everywhere. Only "wait-for" has a log on standard error whose lines have levels. */
function acceptLogLevel(command: Command): void {
  if (command.options.some(({ long }) => long === '--log-level')) return;
  command.addOption(new Option('--log-level <level>').choices(LEVELS).hideHelp());
}
