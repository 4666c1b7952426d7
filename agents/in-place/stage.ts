import { inPlaceConfigFile } from '../../lib/cluster/installation/in-place/config.ts';
import { stagedFile } from '../../lib/cluster/installation/in-place/staged.ts';
import { readMarker } from '../../lib/cluster/installation/marker.ts';
import type { HostPaths } from '../../lib/host/paths.ts';

/** What is to be done on this disk; each has a plan of its own. */
export type InPlaceStage = 'bootstrap' | 'continue' | 'forget';

/**
 * By the disk, whatever an earlier boot has left: the installation is finished, its last step is half done, or nothing
 * of it counts. A file that cannot be read is judged by the plan.
 */
export async function inPlaceStage(paths: HostPaths): Promise<InPlaceStage> {
  const config = await inPlaceConfigFile(paths)
    .read()
    .catch(() => 'damaged' as const);
  const marker = await readMarker(paths.at('/var'));
  const isOwn =
    config !== 'damaged' && (config?.clusterId ?? marker?.clusterId) === marker?.clusterId;
  if (marker?.state === 'finished' && isOwn) return 'forget';
  const staged = await stagedFile(paths)
    .read()
    .catch(() => undefined);
  return staged?.state === 'committing' ? 'continue' : 'bootstrap';
}
