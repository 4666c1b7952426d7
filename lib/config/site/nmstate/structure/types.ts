import { vlanProtocol } from './ethernet.ts';
import {
  flag,
  ipAddress,
  list,
  mapping,
  onlyOneOf,
  openMapping,
  plainFlag,
  plainWhole,
  text,
  U8,
  U16,
  U32,
  U64,
  value,
  whole,
  words,
} from './values.ts';

const POWERS = Array.from({ length: 13 }, (_, power) => 2 ** power);

/** The sections of interfaces that are made of others (nmstate 2.2, ifaces/). */

const priority = openMapping({}, { from: whole(0, U32), to: whole(0, U32) });

/** Its base-iface and id are judged in interfaces.ts. */
export const vlan = mapping({
  'base-iface': text,
  id: whole(0, U16),
  protocol: vlanProtocol,
  'registration-protocol': words('gvrp', 'mvrp', 'none'),
  'reorder-headers': plainFlag,
  'loose-binding': plainFlag,
  'ingress-qos-map': list(priority),
  'egress-qos-map': list(priority),
});

export const vxlan = mapping(
  {
    'base-iface': text,
    learning: plainFlag,
    local: ipAddress,
    remote: ipAddress,
    'destination-port': whole(0, U16),
  },
  { id: whole(0, 0xff_ffff) },
);

/** `mac-vlan` and `mac-vtap`. */
export const macVlan = onlyOneOf(
  mapping(
    { promiscuous: flag, 'accept-all-mac': flag },
    { 'base-iface': text, mode: words('vepa', 'bridge', 'private', 'passthru', 'source') },
  ),
  ['promiscuous', 'accept-all-mac'],
);

export const macsec = mapping(
  { 'mka-cak': text, 'mka-ckn': text, offload: words('off', 'phy', 'mac') },
  {
    encrypt: plainFlag,
    'base-iface': text,
    port: plainWhole(0, U32),
    validation: words('disabled', 'check', 'strict'),
    'send-sci': plainFlag,
  },
);

export const ipvlan = mapping({
  'base-iface': text,
  mode: words('l2', 'l3', 'l3s'),
  private: flag,
  vepa: flag,
});

export const ipTunnel = mapping({
  mode: words('ipip', 'sit', 'ip6ip6', 'ipip6'),
  'base-iface': text,
  local: ipAddress,
  remote: ipAddress,
  ttl: plainWhole(0, U8),
  tos: plainWhole(0, U8),
  'flow-label': plainWhole(0, 0xf_ffff),
  'ip6tun-flags': list(
    words(
      ...['ign-encap-limit', 'use-orig-tclass', 'use-orig-flowlabel', 'mip6-dev'],
      ...['rcv-dscp-copy', 'use-orig-fw-mark', 'allow-local-remote', 'cap-xmit', 'cap-rcv'],
      'cap-per-packet',
    ),
  ),
  'pmtu-disc': plainFlag,
  'encap-limit': plainWhole(0, U8),
  fwmark: plainWhole(0, U32),
});

export const patch = mapping({}, { peer: text });

const descriptors = value(
  '0 or a power of 2 up to 4096',
  (given) => typeof given === 'number' && [0, ...POWERS].includes(given),
);

export const dpdk = onlyOneOf(
  mapping(
    {
      'rx-queue': plainWhole(0, U32),
      n_rxq: plainWhole(0, U32),
      n_rxq_desc: descriptors,
      n_txq_desc: descriptors,
      'lsc-interrupt': plainFlag,
      'dpdk-lsc-interrupt': plainFlag,
    },
    { devargs: text },
  ),
  ['rx-queue', 'n_rxq'],
  ['lsc-interrupt', 'dpdk-lsc-interrupt'],
);

const textKeys = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, text]));

export const libreswan = mapping(
  {
    ...textKeys('rightid', 'rightrsasigkey', 'rightcert', 'rightca', 'rightprotoport'),
    ...textKeys('rightsubnet', 'rightsubnets', 'left', 'leftid', 'leftrsasigkey', 'leftcert'),
    ...textKeys('leftprotoport', 'leftsubnet', 'leftsubnets', 'leftsendcert', 'ikev2', 'psk'),
    ...textKeys('ikelifetime', 'salifetime', 'ike', 'esp', 'dpdaction', 'authby'),
    'nm-auto-defaults': plainFlag,
    dpddelay: whole(0, U64),
    dpdtimeout: whole(0, U64),
    'ipsec-interface': value(
      'yes, no or an integer',
      (given) =>
        typeof given === 'number' || (typeof given === 'string' && /^(yes|no|\d+)$/.test(given)),
    ),
    leftmodecfgclient: plainFlag,
    type: words('tunnel', 'transport'),
    hostaddrfamily: words('ipv4', 'ipv6'),
    clientaddrfamily: words('ipv4', 'ipv6'),
    'require-id-on-certificate': plainFlag,
  },
  { right: text },
);

/** Of NetworkManager, which refuses others (nm-setting-8021x.c, verify). */
const EAP_METHODS = ['leap', 'md5', 'tls', 'peap', 'ttls', 'sim', 'fast', 'pwd', 'external'];

/** `802.1x`. */
export const authentication = openMapping(
  {
    ...textKeys('identity', 'private-key', 'client-cert', 'ca-cert', 'private-key-password'),
    password: text,
    'phase2-auth': words('pap', 'chap', 'mschap', 'mschapv2', 'gtc', 'otp', 'md5', 'tls'),
  },
  {
    'eap-methods': value(
      `a list with some of ${EAP_METHODS.join(', ')}`,
      (given) =>
        Array.isArray(given) &&
        given.length > 0 &&
        given.every((method: unknown) => EAP_METHODS.some((known) => known === method)),
    ),
  },
);
