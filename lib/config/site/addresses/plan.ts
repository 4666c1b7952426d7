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
  /** In canonical form. */
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
    routes: routesOf(document),
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

function routesOf(document: Record<string, unknown>): StaticRoute[] {
  const list = ['routes', 'config'];
  return entriesOf(at(document, ...list), list).flatMap(({ entry, path }): StaticRoute[] => {
    const value = (key: string) => at(entry, key);
    const destination = value('destination');
    if (value('state') !== undefined || value('route-type') !== undefined) return [];
    const network = typeof destination === 'string' ? parseNetwork(destination) : undefined;
    if (network === undefined) return [];
    const [hop, out] = [value('next-hop-address'), value('next-hop-interface')];
    const isSame = typeof hop === 'string' && isAddress(hop) && familyOf(hop) === network.family;
    const metric = numberIn(value('metric'));
    return [
      {
        path,
        family: network.family,
        destination: network,
        hop: isSame ? canonicalAddress(hop) : undefined,
        out: typeof out === 'string' ? out : undefined,
        metric: metric === -1 ? undefined : metric,
        table: numberIn(value('table-id')) || MAIN_TABLE,
        isWeighted: value('weight') !== undefined,
      },
    ];
  });
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
