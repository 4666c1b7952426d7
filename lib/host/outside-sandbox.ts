import type { Limits } from '../base/wait/limits.ts';
import { run } from './command.ts';

/** Options of systemd-run for a program whose output and end are waited for. */
export const waitedFor = ({ deadlineMs }: Pick<Limits, 'deadlineMs'>): string[] => [
  ...['--quiet', '--pipe', '--wait', '--collect'],
  // Limits the program itself: killing systemd-run would leave it running.
  `--property=RuntimeMaxSec=${Math.ceil(deadlineMs / 1000)}`,
];

/**
 * Runs a short program as a unit of its own, outside the sandbox of the agent's
 * unit, and returns its output: for firmware variables and other things that the
 * sandbox of every agent denies. For programs that a restarted agent must find again, see
 * named-unit.ts and transient-unit.ts.
 */
export async function runOutsideSandbox(
  program: string,
  args: readonly string[],
  limits: Limits,
): Promise<string> {
  return run('systemd-run', [...waitedFor(limits), '--', program, ...args], limits);
}
