import { DNS_NAME } from '../../config/site/names.ts';
import { type Domains, formerDomain, inSite } from './domain.ts';
import { appsDomain } from './names.ts';
import type { Route } from './resources.ts';

/** What becomes of a Route when the node gets another domain. */
export type RouteChange =
  /** Its operator makes it again, without a host: the API gives it one in the new domain. */
  | { readonly kind: 'made-again' }
  | {
      readonly kind: 'moved';
      readonly host: string;
      /** What somebody has to know of it. */
      readonly notes: readonly string[];
    }
  /** It stays in a domain that the node has had, for this reason. */
  | { readonly kind: 'stays'; readonly why: string }
  /** It has nothing to do with these domains. */
  | { readonly kind: 'elsewhere' };

/**
 * Operators that give their Routes no host and make a deleted one again (assets of cluster-monitoring-operator,
 * pkg/resource of cluster-image-registry-operator). An update without a host keeps the old one, so that only deletion
 * moves them.
 */
const MADE_AGAIN: ReadonlySet<string> = new Set([
  'openshift-monitoring/alertmanager-main',
  'openshift-monitoring/prometheus-k8s',
  'openshift-monitoring/prometheus-k8s-federate',
  'openshift-monitoring/thanos-querier',
  'openshift-user-workload-monitoring/federate',
  'openshift-user-workload-monitoring/thanos-ruler',
  'openshift-image-registry/default-route',
]);

/** Operators that set the host themselves, and would set it back. */
const OPERATORS: Readonly<Record<string, string>> = {
  'openshift-console': 'its operator follows componentRoutes, and redirects from this name',
  'openshift-authentication': 'its operator follows componentRoutes',
  'openshift-ingress-canary': 'it checks the domain of the installation',
};

/** Written by the API server when it has chosen the host. */
const GENERATED = 'openshift.io/host.generated';

/** In this order of the Routes; each is judged beside all others. */
export function judgeRoutes(
  routes: readonly Route[],
  domains: Domains,
): { readonly route: Route; readonly change: RouteChange }[] {
  const claimed = new Map<string, Route>();
  for (const route of routes) claimed.set(placeOf(route.spec.host, route), route);
  return routes.map((route) => {
    const change = judge(route, domains);
    if (change.kind !== 'moved') return { route, change };
    const place = placeOf(change.host, route);
    const owner = claimed.get(place);
    if (owner === undefined) {
      // A later one of the list cannot have it, too.
      claimed.set(place, route);
      return { route, change };
    }
    const { namespace, name } = owner.metadata;
    return { route, change: { kind: 'stays', why: `${place} belongs to ${namespace}/${name}` } };
  });
}

const placeOf = (host: string | undefined, { spec }: Route): string =>
  `${host ?? ''}${spec.path ?? ''}`;

function judge({ metadata, spec }: Route, domains: Domains): RouteChange {
  const host = hostOf(spec, domains);
  if (host === undefined || metadata.deletionTimestamp !== undefined) return { kind: 'elsewhere' };
  if (formerDomain(host, domains) === undefined) return { kind: 'elsewhere' };
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === 'Ingress');
  if (owner !== undefined)
    return { kind: 'stays', why: 'it is made from an Ingress, and follows it' };
  const operator = OPERATORS[metadata.namespace];
  if (operator !== undefined) return { kind: 'stays', why: operator };
  if (MADE_AGAIN.has(`${metadata.namespace}/${metadata.name}`)) return { kind: 'made-again' };
  const next = inSite(host, domains);
  if (next.length > 253 || !DNS_NAME.test(next)) {
    return { kind: 'stays', why: `${next} is no DNS name: each part has at most 63 characters` };
  }
  return { kind: 'moved', host: next, notes: notesOf({ metadata, spec }) };
}

/** Where it is served. A subdomain gets the domain of the installation from its router. */
const hostOf = ({ host, subdomain }: Route['spec'], { former }: Domains): string | undefined => {
  if (host) return host;
  const [installed] = former;
  return !subdomain || installed === undefined
    ? undefined
    : `${subdomain}.${appsDomain(installed)}`;
};

const notesOf = ({ metadata, spec }: Pick<Route, 'metadata' | 'spec'>): string[] => [
  ...(metadata.annotations?.[GENERATED] === 'true' ? [] : ['its host was set by hand']),
  ...(spec.tls?.certificate || spec.tls?.externalCertificate
    ? ['it shows a certificate of its own, which does not name the new host']
    : []),
];
