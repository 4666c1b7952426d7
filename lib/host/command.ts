import { ExecaError, execa } from 'execa';
import { Failure } from '../base/errors/failure.ts';
import { redact } from '../base/log/redact.ts';
import type { Limits } from '../base/wait/limits.ts';

export interface CommandOptions extends Limits {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs a program without a shell and returns its output. A failure names the
 * command line, how it ended, how long it took and the end of its standard error.
 */
export async function run(
  program: string,
  args: readonly string[],
  { signal, deadlineMs, input, env }: CommandOptions,
): Promise<string> {
  try {
    const { stdout } = await execa(program, [...args], {
      cancelSignal: signal,
      timeout: Math.max(1, Math.ceil(deadlineMs)),
      stdin: input === undefined ? 'ignore' : 'pipe',
      ...(input === undefined ? {} : { input }),
      ...(env === undefined ? {} : { env: { ...env } }),
    });
    return stdout;
  } catch (error) {
    if (!(error instanceof ExecaError)) throw error;
    throw commandFailure([program, ...args].join(' '), error);
  }
}

function commandFailure(line: string, error: ExecaError): Failure {
  const how =
    error.code === 'ENOENT'
      ? 'program not found'
      : error.timedOut
        ? 'deadline exceeded'
        : error.isCanceled
          ? 'stopped'
          : error.signal !== undefined
            ? `signal ${error.signal}`
            : error.exitCode !== undefined
              ? `exit code ${error.exitCode}`
              : `${error.code ?? error.originalMessage}`;
  // Before truncation: a key without its beginning cannot be recognized.
  const stderr = redact(String(error.stderr)).trim();
  const found = [
    `${how} after ${Math.round(error.durationMs / 100) / 10}s`,
    ...lastLines(stderr),
  ].join(' | ');
  return new Failure('retry', `command "${redact(line)}" failed`, {
    code: 'command-failed',
    found,
    cause: error,
    tellsCause: true,
  });
}

const lastLines = (text: string) => (text === '' ? [] : text.split('\n').slice(-4));
