import type { ChangeStep } from '../../../lib/change/or-back.ts';
import { siteDomain } from '../../../lib/config/site-config/site-config.ts';
import { done, notYet } from '../../../lib/engine/steps/step.ts';
import { componentHosts, whyElsewhere } from '../../../lib/relocation/site-openshift/domain.ts';
import { CLUSTER } from '../../../lib/relocation/site-openshift/names.ts';
import { openShiftResources } from '../../../lib/relocation/site-openshift/resources.ts';
import { chainAnchor } from '../../../lib/relocation/site-volume/shown-certificate.ts';
import { apiPort } from '../../../lib/render/kubernetes/paths.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import type { ReconfigureContext } from '../context.ts';
import { type Dialled, dialled } from '../names.ts';
import { requireSiteIdentity } from './certificates.ts';

type Context = Pick<ReconfigureContext, 'paths' | 'request' | 'site' | 'withAdministrator'>;

/** On which the host answers for its names. */
interface Ports {
  readonly api: number;
  readonly ingress: number;
}

/**
 * Proves the names by dialling them: the operators say that their routes are at the site, and the API and the router show the
 * site's certificates at each address of the host. An API server or a router that was not rolled out shows the earlier ones.
 */
export const namesAt = (ports: Ports): ChangeStep<Context> => ({
  name: 'names',
  leaves: "an API and routes of the operators that show the site's certificates",
  touches: ['network', 'api'],
  neededUntil: 'confirm',
  holds: async () => true,
  async run(context, progress) {
    const { signal } = progress;
    const { api, ingress } = await requireSiteIdentity(context);
    const why = await context.withAdministrator(progress, async (client) =>
      whyElsewhere(
        await client.get(
          openShiftResources.ingresses,
          { name: CLUSTER },
          { signal, deadlineMs: REQUEST_DEADLINE_MS },
        ),
      ),
    );
    if (why !== undefined) return notYet(why);
    const domain = siteDomain(context.site);
    const shows = (name: string, port: number, given: string): Dialled => ({
      ...{ name, port, given, ca: chainAnchor(given) },
    });
    const all = [
      shows(`api.${domain}`, ports.api, api.certificate),
      ...componentHosts(domain).map(({ hostname }) =>
        shows(hostname, ports.ingress, ingress.certificate),
      ),
    ];
    // A relocatable node of OpenShift has one family: a router of the site may announce an address of the other.
    return done(await dialled(all, signal, ['IPv4']));
  },
});

export const renameOpenShiftAtSite = namesAt({ api: apiPort, ingress: 443 });
