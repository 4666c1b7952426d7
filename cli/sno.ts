import { Command, CommanderError, Help, Option } from 'commander';
import { EXIT } from '../lib/base/errors/exit-codes.ts';
import { describeError, Failure } from '../lib/base/errors/failure.ts';
import { isSystemError, systemErrorText } from '../lib/base/errors/system-error.ts';
import { commands } from './commands/commands.ts';
import { versionText } from './explain/versions.ts';
import { habitOf, usualOrder } from './habits.ts';
import { asBadPath } from './process/bad-path.ts';
import { JsonResult } from './process/json-result.ts';
import { LEVELS } from './process/log-file.ts';
import { Stopped } from './process/stopped.ts';
import type { OutsideSno, Surroundings } from './surroundings.ts';

/** Of a description beside the name of its option. */
const LEAST_COLUMNS = 20;

const AFTER_HELP = `
--dir and --log-level may also be written before the command.
Exit codes: 0 done; 2 invalid input or usage, nothing written; 3 deadline;
4 the installation or the site failed; 128+N stopped by signal N; 1 other.`;

/** For help that is not printed to a terminal. */
const DEFAULT_COLUMNS = 80;

/**
 * The command line of `sno`; `args` without the program's own name. Never throws.
 * Returns the exit code: 0 done; 2 the input or the usage is wrong and nothing was
 * written; 3 a deadline; 4 the installation or the site failed; 128 + N stopped by signal N; 1
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
  const result = new JsonResult(outside);
  const sno = programOf(outside, result).hook('preAction', (_sno, command) => {
    running = namesOf(command);
    if (command.opts()[JSON_RESULT] === true && hasResult(running)) result.begin(running.join(' '));
    refuseEmpty(command);
  });
  try {
    await sno.parseAsync(ordered, { from: 'user' });
    result.end(EXIT.done);
    return EXIT.done;
  } catch (thrown) {
    // Commander has already printed its own message.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.done : EXIT.usage;
    const error = runsAgain(running) ? thrown : asBadPath(thrown);
    const exitCode = signal.aborted
      ? stopped(signal.reason, running, complain)
      : failed(error, running, complain);
    result.end(exitCode, signal.aborted ? signal.reason : error);
    return exitCode;
  }
}

function failed(
  error: unknown,
  running: readonly string[],
  complain: Surroundings['complain'],
): number {
  complain(`sno: ${isSystemError(error) ? systemErrorText(error) : describeError(error)}`);
  return exitCodeOf(error, running);
}

/** The worker of a Job, whose volume may be there a moment later. */
const runsAgain = ([first, second]: readonly string[]): boolean =>
  first === 'fleet' && second === 'site';

/** An empty value is a variable of the shell that is not set: as a folder, it would be the present one. */
function refuseEmpty(command: Command): void {
  for (const option of command.options) {
    if (command.getOptionValue(option.attributeName()) !== '') continue;
    throw new Failure('usage', `${option.flags}: an empty value was given; nothing was done`, {
      fix: 'Write the value, or leave the option out.',
    });
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
  const command = running.join(' ');
  if (!quiet) complain(`sno: ${command} ${message}${leftOf(command)}`);
  return exitCode;
}

/** What there is of the output of a command that was stopped. */
function leftOf(command: string): string {
  if (command === 'create site-volumes') return '; give it again with --resume to go on';
  return command.startsWith('create ') ? '; partial output was removed' : '';
}

/** They follow hosts. */
const FOLLOWING = ['wait-for', 'fleet'];

/** 4 is only for a failed installation or site; what fails on this machine can be retried. */
function exitCodeOf(error: unknown, [command = '']: readonly string[]): number {
  const kind = error instanceof Failure ? error.kind : undefined;
  if (kind === 'usage') return EXIT.usage;
  if (kind === 'deadline') return EXIT.deadline;
  return kind === 'fatal' && FOLLOWING.includes(command) ? EXIT.fatal : EXIT.retryable;
}

/** The command line itself, as described by help, man page and completion. */
export const program = (outside: OutsideSno): Command =>
  programOf(outside, new JsonResult(outside));

function programOf(outside: OutsideSno, result: JsonResult): Command {
  const surroundings = result.surroundings();
  const sno = new Command('sno')
    .description('create and follow the installation of a single-node OpenShift or Kubernetes host')
    .configureOutput({
      writeOut: (text) => outside.print(text.trimEnd()),
      writeErr: (text) => outside.complain(text.trimEnd()),
      getOutHelpWidth: () => outside.columns ?? DEFAULT_COLUMNS,
    })
    .version(versionText())
    .configureHelp({ minWidthToWrap: LEAST_COLUMNS, optionDescription })
    .exitOverride()
    .addHelpText('after', AFTER_HELP);
  for (const add of commands) add(sno, surroundings);
  for (const command of leavesOf(sno)) {
    acceptLogLevel(command);
    acceptJson(command);
  }
  return sno;
}

/** As commander writes it, and whether the command cannot do without. */
const optionDescription = (option: Option): string => {
  const text = new Help().optionDescription(option);
  return option.mandatory ? `${text} (required)` : text;
};

const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);

const JSON_RESULT = 'json';
/** The commands that say what they have done. Others print documents, some of which have a JSON form of their own. */
const hasResult = ([first = '', second = '']: readonly string[]): boolean =>
  ['create', 'verify', 'wait-for'].includes(first) && !(first === 'verify' && second === 'backup');

function acceptJson(command: Command): void {
  if (!hasResult(namesOf(command))) return;
  command.option(`--${JSON_RESULT}`, 'print one JSON object instead, for programs');
}

/** As openshift-install has it everywhere. Only "wait-for" has a log on standard error whose lines have levels. */
function acceptLogLevel(command: Command): void {
  if (command.options.some(({ long }) => long === '--log-level')) return;
  command.addOption(new Option('--log-level <level>').choices(LEVELS).hideHelp());
}
