import { describeError, type Failure } from '../../base/errors/failure.ts';
import type { HostPaths } from '../../host/paths.ts';
import { readSettings, readSoundSettings, type SoundSettings } from '../../host/settings.ts';

/** What units run, without anybody who could correct a file, and what only shows something. */
const GOES_ON: readonly string[] = ['run', 'plan', 'status', 'help', '--help', '-h'];

/**
 * The settings for a command of an agent. With a settings file that cannot be used, units go on: without the defaults, one
 * character too many would keep a host off, or an armed way back from being taken. Whoever types a command is told instead.
 *
 * @param unattended further commands that agents run
 * @throws Failure (usage) for a command of people, if the file cannot be used
 */
export async function settingsFor(
  paths: Pick<HostPaths, 'config'>,
  args: readonly string[],
  unattended: readonly string[] = [],
): Promise<SoundSettings> {
  const [command = 'help'] = args;
  return [...GOES_ON, ...unattended].includes(command) || args.includes('--help')
    ? readSoundSettings(paths)
    : { settings: await readSettings(paths) };
}

/** For the journal, and for people. */
export const settingsNotice = (fault: Failure): string =>
  `${describeError(fault)} Until then the defaults are used for what cannot be read.`;
