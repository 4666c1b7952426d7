import { isIP, isIPv6 } from 'node:net';
import { suggest } from '../../errors/suggest.ts';
import { isRecord } from '../../json.ts';
import { interfaceMisfits } from './interfaces.ts';
import { at, entriesOf, listMisfit, type Misfit, mistypedKeys, noMapping } from './misfit.ts';
import { type Interface, interfacesOf, referenceMisfit } from './references.ts';

const SECTIONS = [
  ...['interfaces', 'routes', 'route-rules', 'dns-resolver', 'ovs-db', 'ovn', 'description'],
];

const ROUTE_KEYS = [
  ...['state', 'destination', 'next-hop-interface', 'next-hop-address', 'metric', 'table-id'],
  ...['weight', 'route-type', 'cwnd', 'source'],
];

/**
 * What is wrong with the structure of an nmstate document (nmstate 2.2,
 * rust/src/lib), as far as can be checked without the host: names, types,
 * references between interfaces, addresses. Paths are relative to the document.
 *
 * @param hostname the field of the configuration for the host's name, which nmstate could also set.
 */
export function nmstateMisfits(document: Record<string, unknown>, hostname: string): Misfit[] {
  return [
    ...sectionMisfits(document, hostname),
    ...interfaceMisfits(document),
    ...routeMisfits(document),
    ...resolverMisfits(document),
  ];
}

function sectionMisfits(document: Record<string, unknown>, hostname: string): Misfit[] {
  const keys = Object.keys(document);
  const unknown = keys
    .filter((key) => !SECTIONS.includes(key))
    .map((key): Misfit => {
      const found = 'an unknown section';
      const near = suggest(key, SECTIONS);
      const replace = near === undefined ? `Use ${SECTIONS.join(', ')}.` : `Did you mean ${near}?`;
      const fix = key === 'hostname' ? `Use ${hostname} instead.` : replace;
      return { path: [key], ofKey: true, expected: 'an nmstate section', found, fix };
    });
  if (keys.length > 0) return unknown;
  return [{ path: [], expected: 'an nmstate document', fix: 'Write interfaces in it.' }];
}

function routeMisfits(document: Record<string, unknown>): Misfit[] {
  const routes = at(document, 'routes');
  const fix = 'Write it as config: [{destination: 0.0.0.0/0, next-hop-address: ..., ...}].';
  if (routes === undefined) return [];
  if (!isRecord(routes)) return [{ path: ['routes'], expected: 'a mapping with config', fix }];
  const path = ['routes', 'config'];
  const all = interfacesOf(document);
  return [
    ...mistypedKeys(routes, ['config', 'running'], ['routes']),
    ...listMisfit(routes.config, path, fix),
    ...entriesOf(routes.config, path).flatMap((each) => oneRoute(all, each)),
  ];
}

function oneRoute(
  all: readonly Interface[],
  { entry, path }: ReturnType<typeof entriesOf>[number],
): Misfit[] {
  if (!isRecord(entry)) return [noMapping(path)];
  const keys = mistypedKeys(entry, ROUTE_KEYS, path);
  if (entry.state === 'absent') return keys;
  const { destination } = entry;
  const hop = entry['next-hop-address'];
  const out = entry['next-hop-interface'];
  const family = familyOf(destination);
  const misfits: Misfit[] = [...keys];
  if (family === undefined) {
    const fix = 'Write it as 0.0.0.0/0, ::/0 or 10.20.0.0/16.';
    misfits.push({ path: [...path, 'destination'], expected: 'a network', fix });
  }
  if (entry['route-type'] !== undefined) return misfits;
  if (typeof out !== 'string') {
    const fix = 'Name the outgoing interface: nmstate does not infer it.';
    misfits.push({ path: [...path, 'next-hop-interface'], expected: 'an interface', fix });
  } else {
    misfits.push(...referenceMisfit(all, out, [...path, 'next-hop-interface']));
  }
  if (hop === undefined) return misfits;
  const version = typeof hop === 'string' ? isIP(hop) : 0;
  if (version === 0 || (family !== undefined && version !== family)) {
    const expected = family === undefined ? 'an address' : `an IPv${family} address`;
    const fix = 'Set the address of a router of the same family as the destination.';
    misfits.push({ path: [...path, 'next-hop-address'], expected, fix });
  }
  return misfits;
}

/** 4 or 6 for a network in CIDR notation. */
function familyOf(network: unknown): number | undefined {
  if (typeof network !== 'string') return undefined;
  const [address = '', prefix = '', ...rest] = network.split('/');
  const family = isIP(address);
  const fits = /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
  return family !== 0 && fits && rest.length === 0 ? family : undefined;
}

function resolverMisfits(document: Record<string, unknown>): Misfit[] {
  const resolver = at(document, 'dns-resolver');
  const fix = 'Write it as config: {server: [192.168.7.1], search: [example.com]}.';
  if (resolver === undefined) return [];
  if (!isRecord(resolver)) {
    return [{ path: ['dns-resolver'], expected: 'a mapping with config', fix }];
  }
  const keys = mistypedKeys(resolver, ['config', 'running'], ['dns-resolver']);
  const { config } = resolver;
  const path = ['dns-resolver', 'config'];
  if (config === undefined) return keys;
  if (!isRecord(config)) return [...keys, { path, expected: 'a mapping with server', fix }];
  return [
    ...keys,
    ...mistypedKeys(config, ['server', 'search', 'options'], path),
    ...listMisfit(config.server, [...path, 'server'], fix),
    ...listMisfit(config.search, [...path, 'search'], fix),
    ...entriesOf(config.server, [...path, 'server'])
      .filter(({ entry }) => !isNameServer(entry))
      .map(({ path }) => ({ path, expected: 'the address of a name server', fix })),
    ...entriesOf(config.search, [...path, 'search'])
      .filter(({ entry }) => typeof entry !== 'string' || !/^[A-Za-z0-9._-]+$/.test(entry))
      .map(({ path }) => ({ path, expected: 'a domain', fix })),
  ];
}

/** A link-local address is followed by a percent sign and its interface. */
function isNameServer(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const [address = '', zone] = value.split('%');
  return zone === undefined ? isIP(address) !== 0 : isIPv6(address) && zone !== '';
}
