import { exists } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { isInstalled } from '../../../lib/host/search-path.ts';

/**
 * Where a person describes the bridge of the pod network: configure-ovs.sh does nothing then, makes another one, or makes it of the
 * adapter that the last file names, whatever has the default route (machine-config operator 4.19 to 5.0).
 */
const BY_HAND = [
  '/etc/nmstate/openshift/applied',
  '/etc/ovnk/extra_bridge',
  '/etc/ovnk/default_bridge',
] as const;

/** Why the bridge of the pod network cannot be made anew at a site. */
export async function bridgeFaults(paths: HostPaths): Promise<string[]> {
  const faults: string[] = [];
  for (const path of BY_HAND) {
    if (await exists(paths.at(path))) {
      faults.push(`the bridge of the pod network is described by hand: ${path}`);
    }
  }
  for (const program of ['nmcli', 'ovs-vsctl']) {
    if (!(await isInstalled(program))) faults.push(`the host has no ${program}`);
  }
  return faults;
}
