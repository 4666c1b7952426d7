import { isIP } from 'node:net';
import { isRecord } from '../../../base/json.ts';
import { at, entriesOf, listMisfit, type Misfit, noMapping, type Path } from './misfit.ts';
import { type Interface, interfacesOf, namesOf, referenceMisfit } from './references.ts';
import { isOff, numberIn } from './values.ts';

/** More than a host of one node has; each is compared with the others. */
const MOST_ROUTES = 1024;

/** Routes and rules of an nmstate document: what nmstate 2.2 refuses (rust/src/lib/route.rs, route_rule.rs). */
export function routeMisfits(document: Record<string, unknown>): Misfit[] {
  return [...ofRoutes(document), ...ofRules(document)];
}

function ofRoutes(document: Record<string, unknown>): Misfit[] {
  const { routes } = document;
  const fix = 'Write it as config: [{destination: 0.0.0.0/0, next-hop-address: ..., ...}].';
  if (routes === undefined) return [];
  if (!isRecord(routes)) return [{ path: ['routes'], expected: 'a mapping with config', fix }];
  const path = ['routes', 'config'];
  if (Array.isArray(routes.config) && routes.config.length > MOST_ROUTES) {
    const expected = `at most ${MOST_ROUTES} routes`;
    return [{ path, expected, found: `${routes.config.length}`, fix: 'Remove some.' }];
  }
  const all = interfacesOf(document);
  return [
    ...listMisfit(routes.config, path, fix),
    ...entriesOf(routes.config, path).flatMap((each) => oneRoute(all, each)),
  ];
}

function oneRoute(
  all: readonly Interface[],
  { entry, path }: ReturnType<typeof entriesOf>[number],
): Misfit[] {
  if (!isRecord(entry)) return [noMapping(path)];
  if (entry.state === 'absent' || entry.state === 'ignore') return [];
  const family = familyOf(entry.destination);
  const misfits: Misfit[] = [...ofVrf(all, entry, path)];
  const wrong = (key: string, expected: string, fix: string) =>
    misfits.push({ path: [...path, key], expected, fix });
  const networkFix = 'Write it as 0.0.0.0/0, ::/0 or 10.20.0.0/16.';
  if (family === undefined) wrong('destination', 'a network', networkFix);
  const { source } = entry;
  if (source !== undefined && (typeof source !== 'string' || isIP(source) === 0)) {
    wrong('source', 'an address of the interface', 'Write it without a prefix length.');
  }
  if (entry['route-type'] !== undefined) {
    for (const key of ['next-hop-interface', 'next-hop-address']) {
      if (entry[key] === undefined) continue;
      wrong(key, 'no next hop: the route leads nowhere', 'Remove it, or route-type.');
    }
    return misfits;
  }
  if (family === 4 && isThisNetwork(entry.destination)) {
    wrong('destination', 'a network outside of 0.0.0.0/8', networkFix);
  }
  if (family === 6 && entry.weight !== undefined) {
    wrong('weight', 'no such key in a route of IPv6', 'Remove it.');
  }
  misfits.push(...ofHop(all, entry, family, path));
  return misfits;
}

function ofHop(
  all: readonly Interface[],
  entry: Record<string, unknown>,
  family: 4 | 6 | undefined,
  path: Path,
): Misfit[] {
  const hop = entry['next-hop-address'];
  const out = entry['next-hop-interface'];
  const below = [...path, 'next-hop-interface'];
  const misfits: Misfit[] = [];
  if (typeof out !== 'string') {
    const fix = 'Name the outgoing interface: nmstate does not infer it.';
    misfits.push({ path: below, expected: 'an interface', fix });
  } else {
    misfits.push(...referenceMisfit(all, out, below), ...ofFamily(all, out, family, below));
  }
  if (hop === undefined) return misfits;
  const version = typeof hop === 'string' && !hop.includes('%') ? isIP(hop) : 0;
  if (version === 0 || (family !== undefined && version !== family)) {
    const expected = family === undefined ? 'an address' : `an IPv${family} address`;
    const fix = `${hop}`.includes('%')
      ? 'Omit the zone: next-hop-interface says which link is meant.'
      : 'Set the address of a router of the same family as the destination.';
    misfits.push({ path: [...path, 'next-hop-address'], expected, fix });
  }
  return misfits;
}

/** A route needs its family on the interface. */
function ofFamily(
  all: readonly Interface[],
  out: string,
  family: 4 | 6 | undefined,
  path: Path,
): Misfit[] {
  const one = all.find((each) => namesOf(each).includes(out) && each.entry.type !== 'ovs-bridge');
  if (one === undefined || family === undefined) return [];
  const name = `ipv${family}`;
  if (!isOff(at(one.entry, name, 'enabled'))) return [];
  const expected = `an interface with ${name}`;
  const found = `${JSON.stringify(out)}, where it is not enabled`;
  return [{ path, expected, found, fix: `Write enabled: true below ${name} of ${out}.` }];
}

/** The VRF of a route by name, which gives it its table (ifaces/vrf.rs, resolve_vrf_name). */
function ofVrf(all: readonly Interface[], entry: Record<string, unknown>, path: Path): Misfit[] {
  const vrf = entry['vrf-name'];
  if (typeof vrf !== 'string') return [];
  const its = all.find(
    ({ name, entry }) =>
      name === vrf && entry.type === 'vrf' && [undefined, 'up'].includes(stateOf(entry)),
  );
  if (its === undefined) {
    const below = [...path, 'vrf-name'];
    return [{ path: below, expected: 'a VRF of this document', fix: 'Declare it in interfaces.' }];
  }
  const [own, table] = [entry['table-id'], at(its.entry, 'vrf', 'route-table-id')].map(numberIn);
  if (own === undefined || table === undefined || own === table) return [];
  const expected = `${table}, the table of ${vrf}`;
  return [{ path: [...path, 'table-id'], expected, fix: 'Remove it: vrf-name says which.' }];
}

const stateOf = ({ state }: Record<string, unknown>) =>
  typeof state === 'string' ? state : undefined;

const isThisNetwork = (network: unknown) =>
  typeof network === 'string' && /^0\./.test(network) && Number(network.split('/')[1] ?? 32) >= 8;

/** 4 or 6 for a network in CIDR notation, or an address. */
function familyOf(network: unknown): 4 | 6 | undefined {
  if (typeof network !== 'string') return undefined;
  const [address = '', prefix, ...rest] = network.split('/');
  const family = isIP(address);
  const longest = family === 4 ? 32 : 128;
  const fits = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= longest);
  if (!fits || rest.length > 0 || address.includes('%')) return undefined;
  return family === 4 || family === 6 ? family : undefined;
}

function ofRules(document: Record<string, unknown>): Misfit[] {
  const list = ['route-rules', 'config'];
  return entriesOf(at(document, ...list), list).flatMap(({ entry, path }) =>
    isRecord(entry) && entry.state !== 'absent' ? oneRule(entry, path) : [],
  );
}

function oneRule(entry: Record<string, unknown>, path: Path): Misfit[] {
  const misfits: Misfit[] = [];
  const wrong = (key: string, expected: string, fix: string) =>
    misfits.push({ path: [...path, key], expected, fix });
  const { family } = entry;
  const ends = ['ip-from', 'ip-to'] as const;
  if (family === undefined && ends.every((key) => entry[key] === undefined)) {
    wrong('family', 'ip-from, ip-to or family', 'Set one of them.');
  }
  for (const key of ends) {
    const text = entry[key];
    if (text === undefined || text === '') continue;
    const found = familyOf(text);
    const fix = 'Write it as 10.20.0.0/16 or fd00:1::/64.';
    if (found === undefined) wrong(key, 'a network', fix);
    else if (family !== undefined && family !== `ipv${found}`) {
      wrong(key, `a network of family ${family}`, 'Change one of the two.');
    }
  }
  const [from, to] = ends.map((key) => familyOf(entry[key]));
  if (from !== undefined && to !== undefined && from !== to) {
    wrong('ip-to', `a network of IPv${from}, as ip-from is`, 'Change one of the two.');
  }
  if (entry.fwmask !== undefined && entry.fwmark === undefined) {
    wrong('fwmask', 'fwmark beside it', 'Set fwmark too, or remove it.');
  }
  return misfits;
}
