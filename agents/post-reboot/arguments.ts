import { exists } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { journalPath } from '../../lib/steps/agent-command.ts';
import { readJournal } from '../../lib/steps/journal.ts';
import { retire } from './retire.ts';

/**
 * The arguments for the plan: if the record is written and the journal is deleted or new, the
 * only step left of a plain `run` is to retire.
 */
export async function postRebootArguments(
  paths: HostPaths,
  args: readonly string[],
): Promise<readonly string[]> {
  const isPlainRun = args.length === 1 && args[0] === 'run';
  return isPlainRun && (await isRetiring(paths)) ? ['run', '--from', retire.name] : args;
}

async function isRetiring(paths: HostPaths): Promise<boolean> {
  const entries = await readJournal(journalPath(paths, 'post-reboot'));
  const onlyRetire = entries.every(({ step }) => step === retire.name);
  return onlyRetire && (await exists(paths.record));
}
