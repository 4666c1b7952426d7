import type { Limits } from '../wait/limits.ts';
import { run } from './command.ts';

/**
 * Runs a short program as a unit of its own, outside the sandbox of the agent's
 * unit, and returns its output: for firmware variables and other things that the
 * sandbox of every agent denies. For long-running programs, see transient-unit.ts.
 */
export async function runOutsideSandbox(
  program: string,
  args: readonly string[],
  { signal, deadlineMs }: Limits,
): Promise<string> {
  const unit = ['--quiet', '--pipe', '--wait', '--collect'];
  // Limits the program itself: killing systemd-run would leave it running.
  const limit = `--property=RuntimeMaxSec=${Math.ceil(deadlineMs / 1000)}`;
  return run('systemd-run', [...unit, limit, '--', program, ...args], { signal, deadlineMs });
}
