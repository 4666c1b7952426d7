import { Failure } from '../../lib/base/errors/failure.ts';
import {
  type InPlaceConfig,
  inPlaceConfigFile,
} from '../../lib/cluster/installation/in-place/config.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { readSoundSettings, type Settings } from '../../lib/host/settings.ts';
import { bootTime } from '../../lib/host/systemd.ts';

/** A host that is about to bootstrap on its own disk. Its cluster is described in the bundle, which is still closed. */
export interface InPlaceHost {
  readonly paths: HostPaths;
  readonly settings: Settings;
  readonly cluster: InPlaceConfig;
  bootTime(signal: AbortSignal): Promise<Date>;
}

/** @throws Failure (usage) if its Ignition config gave it nothing */
export async function inPlaceHost(paths: HostPaths): Promise<InPlaceHost> {
  const file = inPlaceConfigFile(paths);
  const [{ settings }, cluster] = await Promise.all([readSoundSettings(paths), file.read()]);
  if (cluster !== undefined) return { paths, settings, cluster, bootTime };
  throw new Failure('usage', `${file.path} does not exist`, {
    expected: 'the file from the Ignition config of this host',
    fix: 'Create the Ignition config with "sno create in-place-ignition".',
  });
}
