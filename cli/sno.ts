import { Command, CommanderError } from 'commander';
import { EXIT } from '../lib/base/errors/exit-codes.ts';
import { describeError, Failure } from '../lib/base/errors/failure.ts';
import { productVersion } from '../lib/base/version.ts';
import { commands } from './commands/commands.ts';
import { supportedText } from './explain/versions.ts';
import { Stopped } from './process/stopped.ts';
import { isSystemError, systemErrorText } from './process/system-error.ts';
import type { Surroundings } from './surroundings.ts';

/** For help that is not printed to a terminal. */
const DEFAULT_COLUMNS = 80;

/**
 * The command line of `sno`; `args` without the program's own name. Never throws.
 * Returns the exit code: 0 done; 2 the input or the usage is wrong and nothing was
 * written; 3 a deadline; 4 the installation failed; 128 + N stopped by signal N; 1
 * anything else.
 */
export async function runSno(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { signal, complain } = surroundings;
  let running: string[] = [];
  const sno = program(surroundings).hook('preAction', (_sno, command) => {
    running = namesOf(command);
  });
  try {
    await sno.parseAsync([...args], { from: 'user' });
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
export function program(surroundings: Surroundings): Command {
  const sno = new Command('sno')
    .description('create and follow the installation of a single-node OpenShift or Kubernetes host')
    .configureOutput({
      writeOut: (text) => surroundings.print(text.trimEnd()),
      writeErr: (text) => surroundings.complain(text.trimEnd()),
      getOutHelpWidth: () => surroundings.columns ?? DEFAULT_COLUMNS,
    })
    .version(`${productVersion}\n${supportedText()}`)
    .exitOverride()
    .addHelpText(
      'after',
      '\nExit codes: 0 done; 2 invalid input or usage, nothing written; 3 deadline; 4 the installation failed; 128+N stopped by signal N; 1 other.',
    );
  for (const add of commands) add(sno, surroundings);
  return sno;
}
