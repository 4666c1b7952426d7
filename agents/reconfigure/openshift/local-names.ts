import type { ChangeStep } from '../../../lib/change/or-back.ts';
import { siteDomain } from '../../../lib/config/site-config/site-config.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import { readTextIfPresent, writeFileAtomic } from '../../../lib/host/files.ts';
import { restartUnit } from '../../../lib/host/systemd.ts';
import { siteDns, siteDnsPath } from '../../../lib/relocation/relocatable/local-dns.ts';
import type { ReconfigureContext } from '../context.ts';

type Context = Pick<ReconfigureContext, 'paths' | 'request' | 'site'>;

/**
 * Makes the node itself resolve the names at its site, whatever the site's name servers say: operators dial them before
 * they call a Route available. The names of the installation stay.
 */
export const localNames: ChangeStep<Context> = {
  name: 'local-names',
  leaves: 'a name server of the node that answers for its names at the site',
  touches: ['disk', 'systemd'],
  neededUntil: 'confirm',
  holds: async (context) =>
    (await readTextIfPresent(context.paths.at(siteDnsPath))) === wanted(context),
  async run(context, { signal }) {
    await writeFileAtomic(context.paths.at(siteDnsPath), wanted(context), 0o644);
    await restartUnit('dnsmasq.service', signal);
    return done(siteDomain(context.site));
  },
};

/** The address of the Node, which on OpenShift stays. */
const wanted = ({ request, site }: Context): string =>
  siteDns(request.from.nodeIps[0], siteDomain(site));
