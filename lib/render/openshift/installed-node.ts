import { readTextIfPresent } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import type { RenderedFile, StaticPod } from '../renderer.ts';
import { bootstrapPodsFile } from './bootstrap-pods.ts';

/**
 * A merge patch of the ClusterVersion. openshift-install declares what it makes as unmanaged, so that
 * the version operator leaves it alone during the bootstrap (cvoignore.go); this undoes it.
 */
export const OVERRIDES_PATCH = '/opt/openshift/original_cvo_overrides.patch';

/** What the installed host needs in addition to the results of the stages. */
export async function installedNodeFiles(
  paths: HostPaths,
  pods: readonly StaticPod[],
): Promise<RenderedFile[]> {
  const patch = await readTextIfPresent(paths.at(OVERRIDES_PATCH));
  const overrides: RenderedFile[] =
    patch === undefined
      ? []
      : [
          {
            path: OVERRIDES_PATCH,
            mode: 0o600,
            contents: patch,
            uses: ['node'],
            leftover: 'it is applied to the ClusterVersion once',
          },
        ];
  return [bootstrapPodsFile(pods), ...overrides];
}
