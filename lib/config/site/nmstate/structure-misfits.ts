import { z } from 'zod';
import { suggest } from '../../../base/errors/suggest.ts';
import { isRecord } from '../../../base/json.ts';
import { bare } from '../../file/message.ts';
import type { Misfit, Path } from './misfit.ts';

/** Unknown keys of one mapping beyond these are not compared with the known ones. */
const MOST_COMPARED = 100;

/** What people know from netplan, iproute2, Kickstart, ifcfg files and nmstate before version 2. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['via', 'next-hop-address'],
  ['gateway', 'next-hop-address'],
  ['dev', 'next-hop-interface'],
  ['to', 'destination'],
  ['addresses', 'address'],
  ['dhcp4', 'dhcp'],
  ['dhcp6', 'dhcp'],
  ['nameservers', 'server'],
  ['auto-table-id', 'auto-route-table-id'],
  ['slaves', 'port'],
  ['parent', 'base-iface'],
  ['link', 'base-iface'],
  ['raw-device', 'base-iface'],
  ['netmask', 'prefix-length'],
  ['prefix', 'prefix-length'],
]);

const AS_ROUTE =
  'Write it as a route, beside interfaces: routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.168.7.1, next-hop-interface: eno1}]}.';
const AS_RESOLVER = 'Write it beside interfaces: dns-resolver: {config: {server: [192.168.7.1]}}.';

/** The same of what nmstate has in another section: without it the host would reach nobody. */
const BESIDE: ReadonlyMap<string, string> = new Map([
  ...['gateway', 'gateway4', 'gateway6', 'default-gateway', 'routes'].map(
    (key) => [key, AS_ROUTE] as const,
  ),
  ...['nameserver', 'nameservers', 'dns', 'dns-servers', 'dns-resolver'].map(
    (key) => [key, AS_RESOLVER] as const,
  ),
]);

/** Where nmstate refuses a value by its structure: unknown keys, types, ranges. */
export function structureMisfits(schema: z.ZodType, value: unknown, path: Path): Misfit[] {
  const { error } = schema.safeParse(value);
  return (error?.issues ?? []).flatMap((issue) => {
    const at = [...path, ...issue.path.map(place)];
    if (issue.code !== 'unrecognized_keys') {
      return [wrongValue(issue, at, isOptional(schema, issue.path))];
    }
    const shape = shapeAt(schema, issue.path);
    return issue.keys.map((key, index) => unknownKey([...at, key], key, index, shape));
  });
}

const place = (part: PropertyKey) => (typeof part === 'number' ? part : String(part));

/** Keys whose values are never shown. */
export const NETWORK_SECRETS: Path = [
  'password',
  'private-key',
  'private-key-password',
  'psk',
  'mka-cak',
];

/** Lists that have mappings in a bridge, and names in a bond. */
const PORTS = ['port', 'ports'];

/** Whether nmstate does without the key. */
function isOptional(schema: z.ZodType, path: readonly PropertyKey[]): boolean {
  const key = path.at(-1);
  const own = typeof key === 'string' ? shapeAt(schema, path.slice(0, -1))?.[key] : undefined;
  return own instanceof z.ZodOptional;
}

function wrongValue(
  { message: expected }: z.core.$ZodIssue,
  path: Path,
  canBeOmitted: boolean,
): Misfit {
  const isPort = expected === 'a mapping' && PORTS.includes(`${path.at(-2)}`);
  if (isPort) return { path, expected: 'a mapping with name', fix: 'Write it as {name: eno1}.' };
  const fix = canBeOmitted ? `Write ${expected}, or omit it.` : `Write ${expected}.`;
  const isSecret = path.some((part) => NETWORK_SECRETS.includes(part));
  return { path, expected, fix, ...(isSecret ? { found: 'another value' } : {}) };
}

function unknownKey(
  path: Path,
  key: string,
  index: number,
  shape: z.core.$ZodShape | undefined,
): Misfit {
  const fix = shape === undefined || index >= MOST_COMPARED ? 'Remove it.' : meant(key, shape);
  return { path, ofKey: true, expected: 'an nmstate key', found: 'an unknown key', fix };
}

/** What to do about a key that nmstate does not know, so that nmstate accepts the result. */
function meant(key: string, shape: z.core.$ZodShape): string {
  const known = Object.keys(shape);
  const near = elsewhere(key, known) ?? suggest(key, known);
  if (near !== undefined) return `Did you mean ${near}?`;
  for (const name of known) {
    const names = Object.keys(shapeOf(shape[name]) ?? {});
    const inside = elsewhere(key, names) ?? suggest(key, names);
    if (inside !== undefined) return `Write ${inside} below ${name}.`;
  }
  return BESIDE.get(key) ?? `Remove it, or use one of ${known.join(', ')}.`;
}

function elsewhere(key: string, known: readonly string[]): string | undefined {
  const other = ELSEWHERE.get(key);
  return other !== undefined && known.includes(other) ? other : undefined;
}

function shapeAt(schema: z.ZodType, path: readonly PropertyKey[]): z.core.$ZodShape | undefined {
  const inside = path.reduce<z.core.$ZodType | undefined>((outer, part) => {
    const plain = outer === undefined ? undefined : bare(outer);
    if (plain instanceof z.ZodArray) return plain.element;
    return plain instanceof z.ZodObject ? plain.shape[String(part)] : undefined;
  }, schema);
  return shapeOf(inside);
}

function shapeOf(schema: z.core.$ZodType | undefined): z.core.$ZodShape | undefined {
  const plain = schema === undefined ? undefined : bare(schema);
  return plain instanceof z.ZodObject ? plain.shape : undefined;
}

/** A key that nmstate reads over, with the key that may be meant. */
export interface IgnoredKey {
  readonly path: Path;
  readonly meant: string | undefined;
}

/** The keys of a value that nmstate ignores without a word. */
export function ignoredKeys(schema: z.core.$ZodType, value: unknown, path: Path): IgnoredKey[] {
  const plain = bare(schema);
  if (plain instanceof z.ZodArray && Array.isArray(value)) {
    return value.flatMap((entry: unknown, index) =>
      ignoredKeys(plain.element, entry, [...path, index]),
    );
  }
  if (!(plain instanceof z.ZodObject) || !isRecord(value)) return [];
  const { shape } = plain;
  const isOpen = plain.def.catchall instanceof z.ZodUnknown;
  return Object.entries(value).flatMap(([key, inside], index): IgnoredKey[] => {
    const below = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (below !== undefined) return ignoredKeys(below, inside, [...path, key]);
    if (!isOpen) return [];
    const known = index < MOST_COMPARED ? Object.keys(shape) : [];
    return [{ path: [...path, key], meant: elsewhere(key, known) ?? suggest(key, known) }];
  });
}
