import { isWhole } from '../values.ts';
import {
  flag,
  ipAddress,
  list,
  mapping,
  onlyOneOf,
  plainFlag,
  text,
  U8,
  U32,
  value,
  whole,
  words,
} from './values.ts';

/** -1: NetworkManager's own. */
const metric = whole(-1, U32);

const mptcpFlags = list(words('signal', 'subflow', 'backup', 'fullmesh'));

/** Who has set an address (ip.rs, AddressProtocol). */
const addressProtocol = value(
  'one of lo, ra, kernel_ll, or an integer from 0 to 255',
  (given) =>
    (typeof given === 'string' && ['lo', 'ra', 'kernel_ll'].includes(given)) ||
    isWhole(given, 0, U8),
);

const address = onlyOneOf(
  mapping(
    {
      'mptcp-flags': mptcpFlags,
      'valid-life-time': text,
      'valid-left': text,
      'valid-lft': text,
      'preferred-life-time': text,
      'preferred-left': text,
      'preferred-lft': text,
      protocol: addressProtocol,
    },
    { ip: ipAddress, 'prefix-length': whole(0, 128) },
  ),
  ['valid-life-time', 'valid-left'],
  ['valid-life-time', 'valid-lft'],
  ['valid-left', 'valid-lft'],
  ['preferred-life-time', 'preferred-left'],
  ['preferred-life-time', 'preferred-lft'],
  ['preferred-left', 'preferred-lft'],
);

const both = {
  enabled: flag,
  dhcp: flag,
  address: list(address),
  'auto-dns': flag,
  'auto-gateway': flag,
  'auto-routes': flag,
  'auto-route-table-id': whole(0, U32),
  'auto-route-metric': metric,
  'allow-extra-address': plainFlag,
  'dhcp-send-hostname': plainFlag,
  'dhcp-custom-hostname': text,
};

/**
 * nmstate reads `ipv4` and `ipv6` alike (ip.rs, InterfaceIp), refuses some keys of the other family and ignores the
 * rest: those are in IGNORED.
 */
export const ipv4 = mapping({
  ...both,
  'dhcp-client-id': text,
  forwarding: plainFlag,
  'prefix-route-metric': metric,
  'dhcp-duid': text,
  'addr-gen-mode': text,
  token: text,
});

export const ipv6 = mapping({
  ...both,
  autoconf: flag,
  'dhcp-duid': text,
  'addr-gen-mode': text,
  token: text,
  'dhcp-client-id': text,
});

/** Keys of the other family that nmstate reads and drops. */
export const IGNORED_IN_FAMILY = {
  ipv4: ['dhcp-duid', 'addr-gen-mode', 'token'],
  ipv6: ['dhcp-client-id'],
} as const;

export const mptcp = mapping({ 'address-flags': mptcpFlags });
