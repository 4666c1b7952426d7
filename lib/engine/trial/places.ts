import { join } from 'node:path';
import type { HostPaths } from '../../host/paths.ts';
import { recordPath } from '../agents/records.ts';

/** Everything that a trial keeps on the host until its end. */
export const trialFolder = ({ state }: Pick<HostPaths, 'state'>) => join(state, 'sno-trial');

/** The units have the condition that this file exists. */
export const trialPath = (paths: Pick<HostPaths, 'state'>) => recordPath(paths, 'trial-under-way');

/** How the last trial ended. */
export const lastPath = (paths: Pick<HostPaths, 'state'>) => recordPath(paths, 'trial');

/** Copies of files as they were. */
export const copiesFolder = (paths: Pick<HostPaths, 'state'>) => join(trialFolder(paths), 'copies');

/**
 * The executable from before, by which sno-trial.service takes the change back: the one on trial may
 * not start. A hard link, in the folder that sno-label labels.
 */
export const keptExecutable = ({ binaries }: Pick<HostPaths, 'binaries'>) =>
  join(binaries, 'sno-agents.trial');

/** The deadline of sno-trial.timer, which systemd itself reads at each boot. */
export const timerDropin = ({ at }: Pick<HostPaths, 'at'>) =>
  at('/etc/systemd/system/sno-trial.timer.d/50-deadline.conf');
