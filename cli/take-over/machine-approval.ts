import { writeGoYaml } from '../../lib/base/go-yaml/write.ts';
import type { OpenShiftRelease } from '../../lib/config/cluster/cluster.ts';
import { machineApprovalOff } from '../../lib/config/topology/openshift.ts';
import { PLATFORMS, rowFor } from '../../lib/config/topology/row-for.ts';
import type { UserManifest } from '../create/user-manifests.ts';

/** The ConfigMap by which the machine approver is configured. */
const CONFIG = 'machine-approver-config';

/**
 * The agents make the kubelet's first certificate themselves, so the machine approver must not approve
 * one of the same name: where the topology turns it off, these manifests are added. If one of the given
 * texts has its configuration, that is somebody's decision, and stays.
 */
export function machineApprovalManifests(
  { platform }: Pick<OpenShiftRelease, 'platform'>,
  given: readonly string[],
): UserManifest[] {
  const kind = PLATFORMS.get(platform);
  if (kind === undefined || given.some((text) => text.includes(CONFIG))) return [];
  const row = rowFor({ platform: kind, compute: 0, laterWorkers: 0 });
  return row.machineApproval === 'off'
    ? machineApprovalOff().map(({ file, object }) => ({
        path: file,
        contents: Buffer.from(writeGoYaml(object)),
      }))
    : [];
}
