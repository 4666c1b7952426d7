import { execa } from 'execa';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { ExecResult } from './exec.ts';

export const SEARCH_MS = 60_000;

/** Paths that grep(1) prints in a folder, by `--files-with-matches`; `input` is its standard input. */
export async function searchBelow(
  cwd: string,
  args: readonly string[],
  signal: AbortSignal,
  input = '',
): Promise<string[]> {
  const limits = { cancelSignal: signal, timeout: SEARCH_MS };
  return foundIn(await execa('grep', args, { cwd, input, ...limits, reject: false }));
}

/**
 * The lines of what grep found. Nothing is an answer as well, but not of a search that was ended before.
 *
 * @throws Failure (fatal) if it was
 */
export function foundIn({
  exitCode,
  stdout,
  stderr,
}: Partial<ExecResult> & Pick<ExecResult, 'stdout' | 'stderr'>): string[] {
  // 1: no match; 2: a socket or a file that vanished.
  if (exitCode !== undefined && exitCode <= 2) return stdout.split('\n').filter(Boolean);
  throw new Failure('fatal', 'a search for secrets has not come to its end', {
    expected: `within ${SEARCH_MS / 1000}s`,
    found: stderr.slice(-500) || `exit code ${exitCode}`,
  });
}
