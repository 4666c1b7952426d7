import { Command, CommanderError } from 'commander';
import { describeError, Failure } from '../lib/errors/failure.ts';
import { commands } from './commands/commands.ts';
import type { Surroundings } from './surroundings.ts';

/** Defined by the build. */
declare const __SNO_AGENTS_VERSION__: string | undefined;

/** 0 done; 2 what the user gave is wrong and nothing was written; 1 anything else. */
export type SnoExitCode = 0 | 1 | 2;

/** Of help that is not read in a terminal. */
const DEFAULT_COLUMNS = 80;

/** The command line of `sno`; `args` without the program's own name. Never throws. */
export async function runSno(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<SnoExitCode> {
  try {
    await program(surroundings).parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has printed its own.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const interrupted = surroundings.signal.aborted;
    surroundings.complain(`sno: ${interrupted ? 'interrupted' : describeError(error)}`);
    return error instanceof Failure && error.kind === 'usage' ? 2 : 1;
  }
}

function program(surroundings: Surroundings): Command {
  const sno = new Command('sno')
    .description('makes what a single-node OpenShift or Kubernetes host is installed with')
    .configureOutput({
      writeOut: (text) => surroundings.print(text.trimEnd()),
      writeErr: (text) => surroundings.complain(text.trimEnd()),
      getOutHelpWidth: () => surroundings.columns ?? DEFAULT_COLUMNS,
    })
    .version(typeof __SNO_AGENTS_VERSION__ === 'undefined' ? 'from source' : __SNO_AGENTS_VERSION__)
    .exitOverride()
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 2 wrong input or usage (nothing written), 1 other.',
    );
  for (const add of commands) add(sno, surroundings);
  return sno;
}
