import type { Limits } from '../../base/wait/limits.ts';
import type { KubeClient } from '../../clients/kube/client.ts';
import { resourcePath } from '../../clients/kube/resources.ts';
import type { Call } from '../../clients/kube/transport.ts';
import type { Domains } from './domain.ts';
import { openShiftResources, type Route } from './resources.ts';
import { judgeRoutes, type RouteChange } from './routes.ts';
import { deletion } from './site-write.ts';

const MERGE = 'application/merge-patch+json';

/** A Route that is not at its old name any more, or that has to stay there, as a sentence for the log. */
export interface MovedRoute {
  readonly call: Call | undefined;
  readonly text: string;
}

/**
 * What is to be done so that Routes are in the domain of the site. Those that are there already are left out; the new
 * certificate has to be in use before.
 *
 * @throws KubeError
 */
export async function routesToMove(
  client: KubeClient,
  domains: Domains,
  limits: Limits,
): Promise<MovedRoute[]> {
  const { items } = await client.list(openShiftResources.routes, {}, limits);
  return judgeRoutes(items, domains).flatMap(({ route, change }) => asCall(route, change));
}

function asCall(route: Route, change: RouteChange): MovedRoute[] {
  const { namespace, name, resourceVersion } = route.metadata;
  const what = `Route ${namespace}/${name}`;
  if (change.kind === 'elsewhere') return [];
  if (change.kind === 'stays') {
    return [{ call: undefined, text: `${what} stays at ${served(route)}: ${change.why}` }];
  }
  if (change.kind === 'made-again') {
    const text = `${what} is deleted, so that its operator makes it in the new domain`;
    return [{ call: deletion(openShiftResources.routes, route), text }];
  }
  const notes = change.notes.map((note) => `; ${note}`).join('');
  const body = { metadata: { resourceVersion }, spec: { host: change.host } };
  const path = resourcePath(openShiftResources.routes, { namespace, name });
  return [
    {
      call: { method: 'PATCH', path, body, contentType: MERGE },
      text: `${what} moves from ${served(route)} to ${change.host}${notes}`,
    },
  ];
}

const served = ({ spec }: Route): string => spec.host || `subdomain ${spec.subdomain ?? ''}`;

/** Moves them, and says of each what became of it. Also those that stay are said. */
export async function moveRoutes(
  client: KubeClient,
  domains: Domains,
  limits: Limits,
  say: (text: string) => void,
): Promise<void> {
  for (const { call, text } of await routesToMove(client, domains, limits)) {
    if (call !== undefined) await client.json(call, limits);
    say(text);
  }
}
