import type { Limits } from '../../../lib/base/wait/limits.ts';
import type { ChangeStep } from '../../../lib/change/or-back.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import { carryOut } from '../../../lib/relocation/site-openshift/site-write.ts';
import { siteWrites } from '../../../lib/relocation/site-openshift/site-writes.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import type { ReconfigureContext } from '../context.ts';
import { applyOrHoldBack } from '../hold-back.ts';
import { labelNode } from '../objects.ts';
import { requireSiteIdentity } from './certificates.ts';
import { domainsOf } from './domains.ts';

type Context = Pick<
  ReconfigureContext,
  | 'paths'
  | 'settings'
  | 'cluster'
  | 'request'
  | 'site'
  | 'manifests'
  | 'hostname'
  | 'withAdministrator'
>;

/** What the operators of OpenShift make the site's names, certificates, mirrors and trust from. */
export const siteObjectsOnOpenShift: ChangeStep<Context> = {
  name: 'objects',
  leaves: "the site's certificates, names, mirrors, trust and labels as objects; its manifests",
  touches: ['api'],
  neededUntil: 'routes',
  async holds(context, { signal, remainingMs }) {
    const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
    return context.withAdministrator({ remainingMs }, async (client) => {
      for (const write of await writesOf(context, client, limits)) {
        if ((await write.missing(client, limits)).length > 0) return false;
      }
      return true;
    });
  },
  async run(context, progress) {
    const limits = { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS };
    return context.withAdministrator(progress, async (client) => {
      const made = await carryOut(client, await writesOf(context, client, limits), limits);
      for (const what of made) progress.say(`${what}: as the site wants it`);
      await labelNode(client, context.hostname(), context.site.nodeLabels, limits);
      await applyOrHoldBack(context, client, progress, limits);
      return done(`${made.length} objects changed, ${context.manifests.length} manifests`);
    });
  },
};

async function writesOf(context: Context, client: KubeClient, limits: Limits) {
  const identity = await requireSiteIdentity(context);
  const { former } = await domainsOf(client, context, limits);
  return siteWrites(context.site, identity, former);
}
