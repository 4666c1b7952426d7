import { run } from '../../lib/host/command.ts';

/** Runs a short-running program of this machine, such as mount or ip. */
export function quickly(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  return run(program, args, { signal, deadlineMs: 60_000 });
}
