import { z } from 'zod';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import type { ChangeStep } from '../../../lib/change/or-back.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { objectSchema, type Resource } from '../../../lib/clients/kube/resources.ts';
import { clusterResources } from '../../../lib/cluster/openshift/operators.ts';
import { siteDomain } from '../../../lib/config/site-config/site-config.ts';
import { done, notYet } from '../../../lib/engine/steps/step.ts';
import { moveRoutes, routesToMove } from '../../../lib/relocation/site-openshift/move-routes.ts';
import { appsDomain, CLUSTER } from '../../../lib/relocation/site-openshift/names.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import type { ReconfigureContext } from '../context.ts';
import { moveIngresses } from '../objects.ts';
import { domainsOf } from './domains.ts';

type Context = Pick<ReconfigureContext, 'request' | 'site' | 'withAdministrator'>;

/**
 * Moves every Route into the domain of the site, once the API that gives Routes their hosts knows that domain: an operator
 * creates its Route again within seconds, and would otherwise get a host in the old domain.
 */
export const routes: ChangeStep<Context> = {
  name: 'routes',
  leaves: 'Routes and Ingresses in the domain of the site; those that stay are in the log',
  touches: ['api'],
  neededUntil: 'confirm',
  async holds(context, { signal, remainingMs }) {
    const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
    return context.withAdministrator({ remainingMs }, async (client) => {
      const domains = await domainsOf(client, context, limits);
      const left = await routesToMove(client, domains, limits);
      return left.every(({ call }) => call === undefined);
    });
  },
  async run(context, progress) {
    const limits = { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS };
    return context.withAdministrator(progress, async (client) => {
      const why = await whyNotYet(client, appsDomain(siteDomain(context.site)), limits);
      if (why !== undefined) return notYet(why);
      const domains = await domainsOf(client, context, limits);
      for (const from of domains.former)
        await moveIngresses(client, from, domains.site, progress, limits);
      await moveRoutes(client, domains, limits, (text) => progress.say(text));
      return done();
    });
  },
};

const openShiftApiServerSchema = objectSchema.extend({
  spec: z.looseObject({
    observedConfig: z
      .looseObject({ routingConfig: z.looseObject({ subdomain: z.string() }).optional() })
      .nullish(),
  }),
});

/** The configuration of openshift-apiserver, in which its operator keeps what it has observed. */
const openShiftApiServers: Resource<z.infer<typeof openShiftApiServerSchema>> = {
  apiVersion: 'operator.openshift.io/v1',
  plural: 'openshiftapiservers',
  schema: openShiftApiServerSchema,
};

const OPERATOR = 'openshift-apiserver';

/** Why openshift-apiserver still gives Routes hosts in another domain; undefined if it does not. */
async function whyNotYet(
  client: KubeClient,
  domain: string,
  limits: Limits,
): Promise<string | undefined> {
  const { spec } = await client.get(openShiftApiServers, { name: CLUSTER }, limits);
  const observed = spec.observedConfig?.routingConfig?.subdomain;
  if (observed !== domain) return `${OPERATOR} gives Routes hosts in ${observed ?? 'no domain'}`;
  const { status } = await client.get(clusterResources.operators, { name: OPERATOR }, limits);
  const progressing = status?.conditions?.find(({ type }) => type === 'Progressing');
  if (progressing?.status === 'False') return undefined;
  return `${OPERATOR} is being rolled out: ${progressing?.message ?? 'it says nothing'}`;
}
