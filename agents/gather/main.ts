import type { HostPaths } from '../../lib/host/paths.ts';
import { catalogue } from './catalogue.ts';
import { callerOf, ownCommand } from './entrance/caller.ts';
import { isEntrance } from './entrance/command-line.ts';
import { interruption } from './entrance/interruption.ts';
import { lowerPriority } from './entrance/own-process.ts';
import { runGatherCommand } from './run.ts';

/** The command line of gather, selected by the name it is called by. Returns the exit code. */
export async function runGather(
  paths: HostPaths,
  args: readonly string[],
  calledAs: string,
): Promise<number> {
  const uid = process.geteuid?.() ?? 0;
  lowerPriority();
  return runGatherCommand(isEntrance(calledAs) ? calledAs : 'gather', args, {
    paths,
    catalogue,
    environment: process.env,
    isRoot: uid === 0,
    owner: callerOf(process.env, uid),
    self: ownCommand(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    signal: interruption(),
  });
}
