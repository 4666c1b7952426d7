import type { Family } from '../../base/network/address.ts';
import {
  clusterNetworks,
  insideFaults,
  type NetworkPlace,
  networksIn,
  noServerFaults,
  OVN_NETWORKS,
  type Own,
  overlapFaults,
  ownNetworks,
  serversIn,
} from '../site/addresses/own-networks.ts';
import { addressPlan, isDefault, isDynamic } from '../site/addresses/plan.ts';
import { at, type Misfit } from '../site/nmstate/misfit.ts';
import { type Interface, isWanted } from '../site/nmstate/references.ts';
import { isOff } from '../site/nmstate/values.ts';
import { hostsOf } from './check-hosts.ts';
import type { ShippedHostFacts } from './host-facts.ts';
import { NMSTATE_FIELD, nmstateOf } from './nmstate.ts';
import type { SomeSiteFields } from './schema.ts';

/** The site's networks and servers that are in a network of the node itself. */
export function networkFaults(fields: SomeSiteFields, facts: ShippedHostFacts): Misfit[] {
  const isOpenShift = facts.controlPlane === 'openshift';
  const own: readonly Own[] = [
    ...ownNetworks(facts.internalAddresses, 'the internal address'),
    ...clusterNetworks(facts.clusterNetwork, facts.serviceNetwork),
    ...(isOpenShift ? OVN_NETWORKS : []),
  ];
  return [
    ...overlapFaults(networksOf(fields, own), own),
    ...insideFaults(addressesOf(fields), own),
    ...(isOpenShift ? ofDefaultRoute(fields) : []),
  ];
}

/** OVN-Kubernetes makes its bridge of the interface with the default route. */
function ofDefaultRoute(fields: SomeSiteFields): Misfit[] {
  const document = nmstateOf(fields);
  if (document === undefined) return [];
  const { interfaces, routes } = addressPlan(document);
  const isDynamicHost = interfaces.some(
    (each) => isWanted(each) && (takesGateway(each, 'IPv4') || takesGateway(each, 'IPv6')),
  );
  if (isDynamicHost || routes.some((route) => isDefault(route) && route.table === 254)) return [];
  const fix =
    'Add {destination: 0.0.0.0/0, next-hop-address: ..., next-hop-interface: ...} to routes.config.';
  return [
    {
      path: [NMSTATE_FIELD],
      expected: 'a default route, which OVN-Kubernetes needs',
      found: 'none, and no interface that takes one by dhcp: true',
      fix,
    },
  ];
}

/** Whether DHCP or a router may give it a default route. */
const takesGateway = (one: Interface, family: Family): boolean =>
  isDynamic(one, family) && !isOff(at(one.entry, family.toLowerCase(), 'auto-gateway'));

const below = (place: NetworkPlace): NetworkPlace => ({
  ...place,
  path: [NMSTATE_FIELD, ...place.path],
});

/** Networks that the host is in, or has a route to. */
function networksOf(fields: SomeSiteFields, own: readonly Own[]): NetworkPlace[] {
  const machine = (fields.machine_networks ?? []).map((text, index) => ({
    path: ['machine_networks', index],
    text,
  }));
  return [...networksIn(nmstateOf(fields) ?? {}, own).map(below), ...machine];
}

/** Servers at the site, those of its network among them: only what is an address. */
const addressesOf = (fields: SomeSiteFields): NetworkPlace[] => [
  ...serversIn(nmstateOf(fields) ?? {}).map(below),
  ...namedServers(fields),
];

/** Fields that name a server which cannot be one. */
export const serverFaults = (fields: SomeSiteFields): Misfit[] =>
  noServerFaults([...namedServers(fields), ...askedNames(fields)], nmstateOf(fields) ?? {});

/** A question of DNS connects to nothing, but the site's name servers have to know the name. */
const askedNames = ({ siteChecks = [] }: SomeSiteFields): NetworkPlace[] =>
  siteChecks.flatMap(({ dns }, index) =>
    dns === undefined ? [] : [{ path: ['siteChecks', index, 'dns'], text: dns }],
  );

function namedServers(fields: SomeSiteFields): NetworkPlace[] {
  const { httpProxy = '', httpsProxy = '' } = fields.proxy ?? {};
  return [
    ...(fields.dns?.servers ?? []).map((text, index) => ({
      path: ['dns', 'servers', index],
      text,
    })),
    ...(fields.additionalNTPSources ?? []).map((text, index) => ({
      path: ['additionalNTPSources', index],
      text,
    })),
    ...Object.entries({ httpProxy, httpsProxy }).map(([name, url]) => ({
      path: ['proxy', name],
      text: URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, '$1') : '',
    })),
    ...(fields.siteChecks ?? []).flatMap((check, index) =>
      hostsOf(check).map(({ kind, host }) => ({ path: ['siteChecks', index, kind], text: host })),
    ),
  ];
}
