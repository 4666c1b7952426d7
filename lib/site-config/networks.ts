import { isAddress } from '../network/address.ts';
import { contains, type Network, networkText, overlap, parseNetwork } from '../network/network.ts';
import { at, entriesOf, type Misfit, type Path } from '../site/nmstate/misfit.ts';
import { interfacesOf, isWanted } from '../site/nmstate/references.ts';
import type { HostFacts } from './host-facts.ts';
import { nmstateOf } from './nmstate.ts';
import type { SomeFields } from './schema.ts';

interface Place {
  readonly path: Path;
  readonly text: string;
}

/** The node's own addresses: what is there cannot be reached at a site, or hides it. */
interface Own {
  readonly network: Network;
  readonly what: string;
}

/** The site's networks and servers that are in a network of the node itself. */
export function networkFaults(fields: SomeFields, facts: HostFacts): Misfit[] {
  const own: readonly Own[] = [
    ...ownNetworks(facts.internalAddresses, 'the internal address'),
    ...ownNetworks(facts.clusterNetwork, "the pods' network"),
    ...ownNetworks(facts.serviceNetwork, "the Services' network"),
  ];
  return [
    ...networksOf(fields).flatMap((place) => overlapOf(place, own)),
    ...addressesOf(fields).flatMap((place) => insideOf(place, own)),
  ];
}

const ownNetworks = (texts: readonly string[], what: string): Own[] =>
  texts.flatMap((text) => {
    const network = parseNetwork(isAddress(text) ? hostNetwork(text) : text);
    return network === undefined ? [] : [{ network, what }];
  });

const hostNetwork = (address: string): string => `${address}/${address.includes(':') ? 128 : 32}`;

function overlapOf({ path, text }: Place, own: readonly Own[]): Misfit[] {
  const network = parseNetwork(text);
  const other = network && own.find((each) => overlap(each.network, network));
  if (network === undefined || other === undefined) return [];
  return [
    {
      path,
      expected: `a network without ${other.what} (${networkText(other.network)})`,
      found: networkText(network),
      fix: 'Choose another at the site: the node keeps its own at every site.',
    },
  ];
}

function insideOf({ path, text }: Place, own: readonly Own[]): Misfit[] {
  const other = own.find(({ network }) => contains(network, text));
  if (other === undefined) return [];
  return [
    {
      path,
      expected: `an address outside of ${other.what} (${networkText(other.network)})`,
      found: text,
      fix: 'Use a server that the node can reach at the site.',
    },
  ];
}

/** Networks that the host is in, or has a route to. */
function networksOf(fields: SomeFields): Place[] {
  const document = nmstateOf(fields) ?? {};
  const above = 'raw_nm_state_config';
  const addresses = interfacesOf(document)
    .filter(isWanted)
    .flatMap(({ entry, path }) =>
      ['ipv4', 'ipv6'].flatMap((family) =>
        entriesOf(at(entry, family, 'address'), [above, ...path, family, 'address']),
      ),
    )
    .map(({ entry, path }) => ({
      path: [...path, 'ip'],
      text: `${at(entry, 'ip')}/${at(entry, 'prefix-length')}`,
    }));
  const routes = entriesOf(at(document, 'routes', 'config'), [above, 'routes', 'config']).map(
    ({ entry, path }) => ({
      path: [...path, 'destination'],
      text: `${at(entry, 'destination')}`,
    }),
  );
  const machine = (fields.machine_networks ?? []).map((text, index) => ({
    path: ['machine_networks', index],
    text,
  }));
  return [...addresses, ...routes, ...machine].filter(({ text }) => !/\/0$/.test(text));
}

/** Addresses of servers at the site. */
function addressesOf(fields: SomeFields): Place[] {
  const document = nmstateOf(fields) ?? {};
  const above = 'raw_nm_state_config';
  const servers = [above, 'dns-resolver', 'config', 'server'];
  const hops = entriesOf(at(document, 'routes', 'config'), [above, 'routes', 'config']);
  const { httpProxy = '', httpsProxy = '' } = fields.proxy ?? {};
  const places: Place[] = [
    ...hops.map(({ entry, path }) => ({
      path: [...path, 'next-hop-address'],
      text: `${at(entry, 'next-hop-address')}`,
    })),
    ...entriesOf(at(document, 'dns-resolver', 'config', 'server'), servers).map(
      ({ entry, path }) => ({ path, text: `${entry}` }),
    ),
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
    ...(fields.siteChecks ?? []).flatMap(({ ping }, index) =>
      ping === undefined ? [] : [{ path: ['siteChecks', index, 'ping'], text: ping }],
    ),
  ];
  return places.filter(({ text }) => isAddress(text));
}
