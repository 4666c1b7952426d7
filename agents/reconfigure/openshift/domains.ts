import type { Limits } from '../../../lib/base/wait/limits.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { siteDomain } from '../../../lib/config/site-config/site-config.ts';
import type { Domains } from '../../../lib/relocation/site-openshift/domain.ts';
import { CLUSTER } from '../../../lib/relocation/site-openshift/names.ts';
import { openShiftResources } from '../../../lib/relocation/site-openshift/resources.ts';
import type { ReconfigureContext } from '../context.ts';

/** The domain of the installation, which Ingress "cluster" keeps, that of the last site, and the new one. */
export async function domainsOf(
  client: KubeClient,
  { request: { from }, site }: Pick<ReconfigureContext, 'request' | 'site'>,
  limits: Limits,
): Promise<Domains> {
  const { spec } = await client.get(openShiftResources.ingresses, { name: CLUSTER }, limits);
  const installed = spec.domain.replace(/^apps\./, '');
  const before = `${from.clusterName}.${from.baseDomain}`;
  return { former: [...new Set([installed, before])], site: siteDomain(site) };
}
