import {
  canonicalAddress,
  type Family,
  familyOf,
  isAddress,
} from '../../../base/network/address.ts';
import { type Network, parseNetwork } from '../../../base/network/network.ts';
import { at, entriesOf, type Path } from '../nmstate/misfit.ts';
import { portsOf } from '../nmstate/ports.ts';
import { type Interface, interfacesOf, isWanted } from '../nmstate/references.ts';
import { isOff, isOn, numberIn } from '../nmstate/values.ts';

/** A static address of an interface that is to be up. */
export interface StaticAddress {
  /** Of `ip`, in the document. */
  readonly path: Path;
  readonly owner: Interface;
  readonly family: Family;
  /** In canonical form. */
  readonly ip: string;
  readonly prefix: number;
  readonly network: Network;
}

/** A route that is to be there. */
export interface StaticRoute {
  readonly path: Path;
  readonly family: Family;
  readonly destination: Network;
  /** In canonical form; undefined: the destination is on the link. */
  readonly hop: string | undefined;
  readonly out: string | undefined;
  readonly metric: number | undefined;
  readonly table: number;
  /** Of several next hops that share the traffic. */
  readonly isWeighted: boolean;
}

/** The addresses and routes of a host, as far as an nmstate document gives them. */
export interface AddressPlan {
  readonly interfaces: readonly Interface[];
  readonly addresses: readonly StaticAddress[];
  readonly routes: readonly StaticRoute[];
}

const FAMILIES = [
  ['ipv4', 'IPv4'],
  ['ipv6', 'IPv6'],
] as const;

/** Faults of the document itself are left out: what is no address is in no plan. */
export function addressPlan(document: Record<string, unknown>): AddressPlan {
  const interfaces = interfacesOf(document);
  return {
    interfaces,
    addresses: interfaces.filter(isWanted).flatMap(addressesOf),
    routes: routesOf(document, interfaces),
  };
}

function addressesOf(owner: Interface): StaticAddress[] {
  // A bridge of Open vSwitch has none: its own interface has them.
  if (owner.entry.type === 'ovs-bridge') return [];
  return FAMILIES.flatMap(([name, family]) => {
    const list = [...owner.path, name, 'address'];
    if (isOff(at(owner.entry, name, 'enabled'))) return [];
    return entriesOf(at(owner.entry, name, 'address'), list).flatMap(({ entry, path }) => {
      const [ip, length] = [at(entry, 'ip'), at(entry, 'prefix-length')];
      const prefix = numberIn(length);
      if (typeof ip !== 'string' || !isAddress(ip) || familyOf(ip) !== family) return [];
      const network = parseNetwork(`${ip}/${prefix}`);
      if (prefix === undefined || network === undefined) return [];
      return [{ path: [...path, 'ip'], owner, family, ip: canonicalAddress(ip), prefix, network }];
    });
  });
}

/** The table of the kernel that nmstate means by 0 too. */
const MAIN_TABLE = 254;

/** As nmstate tells the routes of a host: no router (nispor/route.rs, IPV4_EMPTY_NEXT_HOP_ADDRESS). */
const NO_HOP = ['0.0.0.0', '::'];

function routesOf(
  document: Record<string, unknown>,
  interfaces: readonly Interface[],
): StaticRoute[] {
  const list = ['routes', 'config'];
  return entriesOf(at(document, ...list), list).flatMap(({ entry, path }): StaticRoute[] => {
    const value = (key: string) => at(entry, key);
    const destination = value('destination');
    if (value('state') !== undefined || value('route-type') !== undefined) return [];
    const network = typeof destination === 'string' ? parseNetwork(destination) : undefined;
    const table = tableOf(entry, interfaces);
    if (network === undefined || table === undefined) return [];
    const out = value('next-hop-interface');
    const metric = numberIn(value('metric'));
    return [
      {
        path,
        family: network.family,
        destination: network,
        hop: hopOf(value('next-hop-address'), network.family),
        out: typeof out === 'string' ? out : undefined,
        metric: metric === -1 ? undefined : metric,
        table,
        isWeighted: value('weight') !== undefined,
      },
    ];
  });
}

function hopOf(given: unknown, family: Family): string | undefined {
  if (typeof given !== 'string' || !isAddress(given) || familyOf(given) !== family)
    return undefined;
  const hop = canonicalAddress(given);
  return NO_HOP.includes(hop) ? undefined : hop;
}

/** Of its VRF, where the route names one. Undefined: the document does not say. */
function tableOf(entry: unknown, interfaces: readonly Interface[]): number | undefined {
  const vrf = at(entry, 'vrf-name');
  if (vrf === undefined) return numberIn(at(entry, 'table-id')) || MAIN_TABLE;
  const its = interfaces.find((one) => one.name === vrf && one.entry.type === 'vrf');
  return numberIn(at(its?.entry, 'vrf', 'route-table-id'));
}

export const isDefault = ({ destination }: StaticRoute): boolean => destination.prefix === 0;

/** Whether an interface asks DHCP or a router for addresses of the family. */
export function isDynamic({ entry }: Interface, family: Family): boolean {
  const name = family === 'IPv4' ? 'ipv4' : 'ipv6';
  if (isOff(at(entry, name, 'enabled'))) return false;
  return ['dhcp', 'autoconf'].some((key) => isOn(at(entry, name, key)));
}

/** The ports of interfaces that are to be up, which have no addresses themselves. */
export const portNames = (all: readonly Interface[]): ReadonlySet<string> =>
  new Set(
    all
      .filter((one) => isWanted(one) && one.entry.type !== 'vrf')
      .flatMap(({ entry }) => portsOf(entry).map(({ name }) => name)),
  );
