import type { Limits } from '../../../lib/base/wait/limits.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { Discovery } from '../../../lib/clients/kube/discovery.ts';
import type { HostFault } from '../../../lib/relocation/relocatable/openshift/host-checks.ts';
import { openShiftResources } from '../../../lib/relocation/site-openshift/resources.ts';

/** Routes are served by openshift-apiserver, which may be starting: that is for the check of what moves. */
const { routes: _, ...ofSite } = openShiftResources;

/** Which kinds a site would not find: the factory can choose another release, the site cannot. */
export async function servedKindsFaults(client: KubeClient, limits: Limits): Promise<HostFault[]> {
  const discovery = new Discovery(client);
  const faults: HostFault[] = [];
  for (const { apiVersion, plural } of Object.values(ofSite)) {
    const kinds = [...(await discovery.kinds(apiVersion, limits)).values()];
    if (kinds.some(({ resource }) => resource.plural === plural)) continue;
    const text = `the API serves no ${plural} of ${apiVersion}: this release has them in another version, or no more`;
    faults.push({ check: 'served-kinds', text });
  }
  return faults;
}
