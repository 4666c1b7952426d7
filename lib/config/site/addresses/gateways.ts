import { bitsOf } from '../../../base/network/address.ts';
import {
  contains,
  type Network,
  networkText,
  parseNetwork,
} from '../../../base/network/network.ts';
import type { Misfit } from '../nmstate/misfit.ts';
import { namesOf } from '../nmstate/references.ts';
import { endOf, unusableAddress } from './addresses.ts';
import { type AddressPlan, isDefault, isDynamic, type StaticRoute } from './plan.ts';

/** Routes that the kernel refuses, or over which no packet leaves. */
export function gatewayFaults(plan: AddressPlan): Misfit[] {
  return [...plan.routes.flatMap((route) => ofHop(route, plan)), ...ofDefaults(plan)];
}

const LINK_LOCAL = ['fe80::/10', '169.254.0.0/16'].flatMap((range) => parseNetwork(range) ?? []);

function ofHop({ path, hop, out, family }: StaticRoute, plan: AddressPlan): Misfit[] {
  if (hop === undefined || out === undefined) return [];
  const below = [...path, 'next-hop-address'];
  const expected = 'the address of a router';
  const fix = 'Set the address of the router in the network of the interface.';
  const kind = unusableAddress(hop);
  if (kind !== undefined)
    return [{ path: below, expected, found: `${hop}, an address ${kind}`, fix }];
  const own = plan.addresses.find(({ ip }) => ip === hop);
  if (own !== undefined) {
    return [
      { path: below, expected, found: `${hop}, the address of ${own.owner.name} itself`, fix },
    ];
  }
  const one = plan.interfaces.find((each) => namesOf(each).includes(out) && hasAddresses(each));
  const addresses = plan.addresses.filter(
    ({ owner, family: its }) => its === family && owner === one,
  );
  // What DHCP gives is not known, nor what an adapter has of which the document says nothing.
  if (one === undefined || isDynamic(one, family) || addresses.length === 0) return [];
  const networks = [...addresses.map(({ network }) => network), ...onLink(plan, out, family)];
  const there = networks.filter((network) => contains(network, hop));
  // Of an address without a network NetworkManager reaches the router itself (nm_l3_config_data_add_dependent_onlink_routes).
  const isAlone = addresses.every(({ family, prefix }) => prefix === bitsOf(family));
  if (there.length === 0 && !isAlone && !isLinkLocal(hop)) {
    const found = `${hop}, which is in none of its networks`;
    const where = `a router in a network of ${out} (${networks.map(networkText).join(', ')})`;
    return [{ path: below, expected: where, found, fix }];
  }
  const end = there.map((network) => endOf(network, hop)).find((what) => what !== undefined);
  // A router may have the first address of a network of IPv6 (RFC 4291, 2.6.1).
  if (end === undefined || family === 'IPv6') return [];
  return [{ path: below, expected, found: `${hop}, ${end}`, fix }];
}

/** A route over an adapter of which the document says nothing, to a router in the network of one that it knows. */
export function otherAdapters({ addresses, interfaces, routes }: AddressPlan) {
  const declared = new Set(interfaces.flatMap(namesOf));
  return routes.flatMap(({ path, hop, out }) => {
    if (hop === undefined || out === undefined || declared.has(out) || isLinkLocal(hop)) return [];
    const owner = addresses.find(({ network }) => contains(network, hop))?.owner;
    return owner === undefined ? [] : [{ path, hop, out, expected: owner.name }];
  });
}

const isLinkLocal = (hop: string): boolean => LINK_LOCAL.some((network) => contains(network, hop));

const hasAddresses = ({ entry }: AddressPlan['interfaces'][number]) => entry.type !== 'ovs-bridge';

/** Networks that are reached without a router. */
const onLink = ({ routes }: AddressPlan, out: string, family: string): Network[] =>
  routes
    .filter((route) => route.hop === undefined && route.out === out && route.family === family)
    .map(({ destination }) => destination);

/** Which of them is used would depend on which comes first. */
function ofDefaults({ routes }: AddressPlan): Misfit[] {
  const seen = new Map<string, StaticRoute>();
  return routes.filter(isDefault).flatMap((route): Misfit[] => {
    const { path, family, metric, table, hop, out } = route;
    const key = JSON.stringify([family, metric, table]);
    const other = seen.get(key);
    if (other === undefined) {
      seen.set(key, route);
      return [];
    }
    const isSame = other.hop === hop && other.out === out;
    if (isSame || (other.isWeighted && route.isWeighted)) return [];
    const found = metric === undefined ? 'no metric in both' : `metric ${metric} in both`;
    const expected = `one default route of ${family} with this metric`;
    const fix = 'Set another metric: the lower one is used.';
    return [{ path: [...path, 'metric'], expected, found, fix }];
  });
}
