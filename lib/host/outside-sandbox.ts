import type { Limits } from '../wait/limits.ts';
import { run } from './command.ts';

/**
 * Runs a short program as a unit of its own, outside the sandbox of the agent's unit,
 * and returns what it printed: for what needs a host's firmware variables or another
 * thing that every agent's sandbox closes. Long ones go by transient-unit.ts.
 */
export async function runOutsideSandbox(
  program: string,
  args: readonly string[],
  { signal, deadlineMs }: Limits,
): Promise<string> {
  const unit = ['--quiet', '--pipe', '--wait', '--collect'];
  // The program's own end: killing systemd-run would leave it running.
  const limit = `--property=RuntimeMaxSec=${Math.ceil(deadlineMs / 1000)}`;
  return run('systemd-run', [...unit, limit, '--', program, ...args], { signal, deadlineMs });
}
