import { isRecord } from '../../../base/json.ts';
import { readDocument } from '../../file/document.ts';
import { fieldName } from '../../file/fault.ts';
import { otherAdapters } from '../addresses/gateways.ts';
import { addressPlan, isDefault, isDynamic } from '../addresses/plan.ts';
import { nmstateIgnores } from './document.ts';
import { at, entriesOf, type Path } from './misfit.ts';
import { interfacesOf, isWanted } from './references.ts';
import { IGNORED_IN_FAMILY } from './structure/ip.ts';
import { NETWORK_SECRETS } from './structure-misfits.ts';

const FAMILIES = ['ipv4', 'ipv6'] as const;

/**
 * What is valid in an nmstate document (YAML without faults), but does nothing, or not what was intended: one line each.
 */
export function networkNotices(text: string | undefined): string[] {
  const document = text === undefined ? undefined : readDocument(text).value;
  if (!isRecord(document)) return [];
  return [
    ...nmstateIgnores(document).map(({ path, meant }) => {
      const fix = meant === undefined ? 'it does not know this key' : `did you mean ${meant}?`;
      return `nmstate ignores ${fieldName(path)}: ${fix}`;
    }),
    ...interfacesOf(document).filter(isWanted).flatMap(addressNotices),
    ...routeNotices(document),
    ...otherAdapters(addressPlan(document)).map(
      ({ path, hop, out, expected }) =>
        `${fieldName(path)} goes over ${out}, which is not among the interfaces; ${hop} is in the network of ${expected}`,
    ),
    ...['routes', 'dns-resolver']
      .filter((section) => at(document, section, 'running') !== undefined)
      .map((section) => `nmstate ignores ${section}.running, which is what it tells: write config`),
  ];
}

/** Every address is given, and no way out. */
function routeNotices(document: Record<string, unknown>): string[] {
  const { interfaces, addresses, routes } = addressPlan(document);
  const families = ['IPv4', 'IPv6'] as const;
  const mayGetOne = interfaces.some((one) => families.some((family) => isDynamic(one, family)));
  if (addresses.length === 0 || mayGetOne || routes.some(isDefault)) return [];
  return [
    'no default route in routes.config: the host reaches its own networks alone, unless an adapter that is not named here gets one by DHCP',
  ];
}

/** The fields of an nmstate document with a secret, such as a password for 802.1X. */
export function networkSecrets(text: string | undefined): string[] {
  const document = text === undefined ? undefined : readDocument(text).value;
  return secretsBelow(document, []);
}

function secretsBelow(value: unknown, path: Path): string[] {
  if (Array.isArray(value)) return value.flatMap((each, at) => secretsBelow(each, [...path, at]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    isSecret(key, inner) ? [fieldName([...path, key])] : secretsBelow(inner, [...path, key]),
  );
}

/** A private key may be the path of one. */
const isSecret = (key: string, value: unknown): boolean =>
  NETWORK_SECRETS.includes(key) &&
  typeof value === 'string' &&
  !(key === 'private-key' && value.startsWith('/'));

function addressNotices({ entry, path }: ReturnType<typeof interfacesOf>[number]): string[] {
  return FAMILIES.flatMap((family) => {
    const value = entry[family];
    if (!isRecord(value)) return [];
    const field = (key: string) => fieldName([...path, family, key]);
    const hasAddress = entriesOf(at(value, 'address'), []).length > 0;
    return [
      ...IGNORED_IN_FAMILY[family]
        .filter((key) => value[key] !== undefined)
        .map((key) => `nmstate ignores ${field(key)}: it is a key of the other family`),
      ...(hasAddress && value.enabled === undefined
        ? [
            `no ${field('enabled')}: nmstate sets the addresses only where ${family} is enabled already; write enabled: true`,
          ]
        : []),
    ];
  });
}
