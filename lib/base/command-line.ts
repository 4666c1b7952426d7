import { type Command, CommanderError } from 'commander';
import { EXIT, type ExitCode, exitCodeFor } from './errors/exit-codes.ts';
import { describeError } from './errors/failure.ts';
import { systemErrorCode } from './errors/system-error-code.ts';
import { printableLines } from './printable.ts';

/** Where a program prints; tests take the text. */
export interface CommandOutput {
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
}

/** The one way to a terminal: whatever a text quotes, nothing in it is interpreted there. */
export const standardOutput: CommandOutput = {
  write: (text) => void process.stdout.write(printableLines(text)),
  writeError: (text) => void process.stderr.write(printableLines(text)),
};

/**
 * Runs the action that the arguments select, and returns the exit code: that of a completed action by `code`, otherwise
 * that of the error, which is printed as one sentence with the program's name. Help is no error, an unknown option is one
 * of usage. The program throws instead of ending the process (`exitOverride`).
 */
export async function runCommandLine(
  program: Command,
  args: readonly string[],
  code: () => ExitCode,
  { writeError }: Pick<CommandOutput, 'writeError'> = standardOutput,
): Promise<ExitCode> {
  try {
    await program.parseAsync([...args], { from: 'user' });
    return code();
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    writeError(`${program.name()}: ${describeError(error)}${asRoot(error)}\n`);
    return exitCodeFor(error);
  }
}

/** What an ordinary user can do, where only root may. */
function asRoot(error: unknown): string {
  const code = systemErrorCode(error);
  const isDenied = code === 'EACCES' || code === 'EPERM';
  return isDenied && process.getuid?.() !== 0 ? '. Run it as root, such as with sudo.' : '';
}
