import { isIP, isIPv6 } from 'node:net';
import { suggest } from '../../../base/errors/suggest.ts';
import { isRecord } from '../../../base/json.ts';
import { interfaceMisfits, schemaOf } from './interfaces.ts';
import { at, entriesOf, firstOfEach, listMisfit, type Misfit } from './misfit.ts';
import { interfacesOf } from './references.ts';
import { routeMisfits } from './routes.ts';
import { SECTION_SCHEMAS } from './structure/sections.ts';
import { type IgnoredKey, ignoredKeys, structureMisfits } from './structure-misfits.ts';

const SECTIONS = ['interfaces', ...Object.keys(SECTION_SCHEMAS)];

/** Where objects of Kubernetes have a document; others are policies. */
const BELOW: ReadonlyMap<string, string> = new Map([
  ['NMStateConfig', 'spec.config'],
  ['NodeNetworkState', 'status.currentState'],
]);

/**
 * What is wrong with an nmstate document, as far as can be checked without the host: what nmstate 2.2 refuses (its keys,
 * types and rules are those of rust/src/lib), and references between interfaces. Paths are relative to the document.
 *
 * @param hostname the field of the configuration for the host's name, which nmstate could also set.
 */
export function nmstateMisfits(document: Record<string, unknown>, hostname: string): Misfit[] {
  return firstOfEach([
    ...sectionMisfits(document, hostname),
    ...interfaceMisfits(document),
    ...routeMisfits(document),
    ...resolverMisfits(document),
    ...ovnMisfits(document),
    ...Object.entries(SECTION_SCHEMAS).flatMap(([name, schema]) =>
      document[name] === undefined ? [] : structureMisfits(schema, document[name], [name]),
    ),
  ]);
}

/** What nmstate would not refuse, but ignore: keys that it does not know, where it takes any. */
export function nmstateIgnores(document: Record<string, unknown>): IgnoredKey[] {
  return [
    ...interfacesOf(document)
      .filter(({ entry }) => entry.state !== 'absent')
      .flatMap(({ entry, path }) => ignoredKeys(schemaOf(entry), entry, path)),
    ...Object.entries(SECTION_SCHEMAS).flatMap(([name, schema]) =>
      ignoredKeys(schema, document[name], [name]),
    ),
  ];
}

function sectionMisfits(document: Record<string, unknown>, hostname: string): Misfit[] {
  const keys = Object.keys(document);
  const { kind, apiVersion } = document;
  if (typeof kind === 'string' && typeof apiVersion === 'string') {
    const below = BELOW.get(kind) ?? 'spec.desiredState';
    const fix = `Write what is below ${below}, without the object around it.`;
    return [
      { path: ['kind'], expected: 'an nmstate document', found: `a ${kind.slice(0, 60)}`, fix },
    ];
  }
  const unknown = keys
    .filter((key) => !SECTIONS.includes(key))
    .map((key): Misfit => {
      const found = 'an unknown section';
      const near = suggest(key, SECTIONS);
      const replace = near === undefined ? `Use ${SECTIONS.join(', ')}.` : `Did you mean ${near}?`;
      const ofPolicy = `Write what is below ${key}, without it: no policies are read here.`;
      const isPolicy = ['desiredState', 'desired', 'capture'].includes(key);
      const instead = isPolicy ? ofPolicy : replace;
      const fix = key === 'hostname' ? `Use ${hostname} instead.` : instead;
      return { path: [key], ofKey: true, expected: 'an nmstate section', found, fix };
    });
  if (keys.length > 0) return unknown;
  return [{ path: [], expected: 'an nmstate document', fix: 'Write interfaces in it.' }];
}

function resolverMisfits(document: Record<string, unknown>): Misfit[] {
  const resolver = at(document, 'dns-resolver');
  const fix = 'Write it as config: {server: [192.168.7.1], search: [example.com]}.';
  if (resolver === undefined) return [];
  if (!isRecord(resolver)) {
    return [{ path: ['dns-resolver'], expected: 'a mapping with config', fix }];
  }
  const { config } = resolver;
  const path = ['dns-resolver', 'config'];
  if (config === undefined) return [];
  if (!isRecord(config)) return [{ path, expected: 'a mapping with server', fix }];
  return [
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

/** Each network of OVN once, on a bridge of Open vSwitch that there is. */
function ovnMisfits(document: Record<string, unknown>): Misfit[] {
  const list = ['ovn', 'bridge-mappings'];
  const seen = new Set<unknown>();
  return entriesOf(at(document, ...list), list).flatMap(({ entry, path }): Misfit[] => {
    const name = at(entry, 'localnet');
    const isTwice = seen.has(name);
    seen.add(name);
    const unique = {
      path: [...path, 'localnet'],
      expected: 'each network once',
      fix: 'Merge them.',
    };
    if (isTwice) return [unique];
    if (at(entry, 'state') === 'absent' || at(entry, 'bridge') !== undefined) return [];
    const fix = 'Write it as {localnet: physnet, bridge: br-ex}.';
    return [{ path: [...path, 'bridge'], expected: 'the bridge of the network', fix }];
  });
}
