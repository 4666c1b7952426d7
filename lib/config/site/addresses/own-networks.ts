import { isAddress } from '../../../base/network/address.ts';
import {
  contains,
  type Network,
  networkText,
  overlap,
  parseNetwork,
} from '../../../base/network/network.ts';
import { isOfServices, serviceNameProblem } from '../names.ts';
import { at, entriesOf, type Misfit, type Path } from '../nmstate/misfit.ts';
import { endOf, LOOPBACK, unusableAddress } from './addresses.ts';
import { addressPlan } from './plan.ts';

/** A text of a configuration that is a network or an address. */
export interface NetworkPlace {
  readonly path: Path;
  readonly text: string;
}

/** A network of the node itself: what is there cannot be reached outside, or hides it. */
export interface Own {
  readonly network: Network;
  /** In words, as in "without the pods' network". */
  readonly what: string;
}

export const ownNetworks = (texts: readonly string[], what: string): Own[] =>
  texts.flatMap((text) => {
    const network = parseNetwork(isAddress(text) ? hostNetwork(text) : text);
    return network === undefined ? [] : [{ network, what }];
  });

const hostNetwork = (address: string): string => `${address}/${address.includes(':') ? 128 : 32}`;

/** The networks of pods and Services. */
export const clusterNetworks = (pods: readonly string[], services: readonly string[]): Own[] => [
  ...ownNetworks(pods, "the pods' network"),
  ...ownNetworks(services, "the Services' network"),
];

/**
 * What OVN-Kubernetes uses inside of each node: its join, transit and masquerade networks (openshift/api,
 * operator/v1, OVNKubernetesConfig; go-controller/pkg/config). A node with an address there cannot reach its pods.
 */
export const OVN_NETWORKS: readonly Own[] = [
  ...ownNetworks(['100.64.0.0/16', 'fd98::/64'], "OVN-Kubernetes' join network"),
  ...ownNetworks(['100.88.0.0/16', 'fd97::/64'], "OVN-Kubernetes' transit network"),
  ...ownNetworks(['169.254.0.0/17', 'fd69::/112'], "OVN-Kubernetes' masquerade network"),
];

/** A fault of each network that contains some of the node's own. */
export const overlapFaults = (places: readonly NetworkPlace[], own: readonly Own[]): Misfit[] =>
  places.flatMap(({ path, text }) => {
    const network = parseNetwork(text);
    const other = network && own.find((each) => overlap(each.network, network));
    if (network === undefined || other === undefined) return [];
    return [
      {
        path,
        expected: `a network without ${other.what} (${networkText(other.network)})`,
        found: networkText(network),
        fix: 'Choose another: the node keeps its own at every site.',
      },
    ];
  });

/** A fault of each address that is in one of the node's own networks; anything else is left out. */
export const insideFaults = (places: readonly NetworkPlace[], own: readonly Own[]): Misfit[] =>
  places
    .filter(({ text }) => isAddress(text))
    .flatMap(({ path, text }) => {
      const other = own.find(({ network }) => contains(network, text));
      if (other === undefined) return [];
      return [
        {
          path,
          expected: `an address outside of ${other.what} (${networkText(other.network)})`,
          found: text,
          fix: 'Use a server that the node can reach there.',
        },
      ];
    });

/**
 * A fault of each name or address at which the host finds no server; anything else is left out. An address of loopback may
 * be on the host itself. `document`: the host's nmstate document.
 */
export function noServerFaults(
  places: readonly NetworkPlace[],
  document: Record<string, unknown>,
): Misfit[] {
  const networks = addressPlan(document).addresses.map(({ network }) => network);
  return places.flatMap(({ path, text }): Misfit[] => {
    if (isOfServices(text)) return [{ path, ...serviceNameProblem(text) }];
    const found = isAddress(text) ? noServer(text, networks) : undefined;
    const fix = 'Write the address of the server itself.';
    return found === undefined ? [] : [{ path, expected: 'an address of a host', found, fix }];
  });
}

function noServer(address: string, networks: readonly Network[]): string | undefined {
  const kind = unusableAddress(address);
  if (kind !== undefined) return kind === LOOPBACK ? undefined : `${address}, an address ${kind}`;
  // A router may have the first address of a network of IPv6 (RFC 4291, 2.6.1).
  const ends = networks.filter(({ family }) => family === 'IPv4');
  for (const network of ends) {
    const end = endOf(network, address);
    if (end !== undefined) return `${address}, ${end} (${networkText(network)})`;
  }
  return undefined;
}

/**
 * The networks that an nmstate document puts the host into, or gives it a route to. A route to a larger network than one
 * of the node's own hides nothing: the longer prefix counts, as with the default route.
 */
export function networksIn(document: Record<string, unknown>, own: readonly Own[]): NetworkPlace[] {
  const { addresses, routes } = addressPlan(document);
  return [
    ...addresses.map(({ path, ip, prefix }) => ({ path, text: `${ip}/${prefix}` })),
    ...routes
      .filter(({ destination }) => own.some(({ network }) => isWithin(destination, network)))
      .map(({ path, destination }) => ({
        path: [...path, 'destination'],
        text: networkText(destination),
      })),
  ];
}

const isWithin = (inner: Network, outer: Network): boolean =>
  inner.prefix >= outer.prefix && contains(outer, inner.address);

/** The name servers of an nmstate document. */
export function nameServersIn(document: Record<string, unknown>): NetworkPlace[] {
  const servers = ['dns-resolver', 'config', 'server'];
  return entriesOf(at(document, ...servers), servers).map(({ entry, path }) => ({
    path,
    text: `${entry}`,
  }));
}

/** The routers and name servers of an nmstate document. */
export function serversIn(document: Record<string, unknown>): NetworkPlace[] {
  return [
    ...addressPlan(document).routes.flatMap(({ path, hop }) =>
      hop === undefined ? [] : [{ path: [...path, 'next-hop-address'], text: hop }],
    ),
    ...nameServersIn(document),
  ];
}
