import { z } from 'zod';
import { bond, linuxBridge, ovsBridge, ovsDatabase, vrf } from './controllers.ts';
import { ethernet, ethtool, hsr, infiniband, veth } from './ethernet.ts';
import { ipv4, ipv6, mptcp } from './ip.ts';
import {
  authentication,
  dpdk,
  ipTunnel,
  ipvlan,
  libreswan,
  macsec,
  macVlan,
  patch,
  vlan,
  vxlan,
} from './types.ts';
import {
  flag,
  list,
  mapping,
  onlyOneOf,
  openMapping,
  pciAddress,
  plainWhole,
  text,
  U64,
  whole,
  words,
} from './values.ts';

/** Of the kernel (include/uapi/linux/if_ether.h), and that of a VRF (include/net/ipv6.h, IP6_MAX_MTU). */
const [LEAST_MTU, MOST_MTU] = [68, 65_575];

/** What interfaces of all types have (nmstate 2.2, ifaces/base.rs). name, type, state and identifier are judged in interfaces.ts. */
const COMMON = {
  name: z.unknown(),
  type: z.unknown(),
  state: z.unknown(),
  identifier: z.unknown(),
  'mac-address': z.unknown(),
  'permanent-mac-address': text,
  'pci-address': pciAddress,
  'profile-name': text,
  description: text,
  driver: text,
  mtu: whole(LEAST_MTU, MOST_MTU),
  'min-mtu': plainWhole(0, U64),
  'max-mtu': plainWhole(0, U64),
  'wait-ip': words('any', 'ipv4', 'ipv6', 'ipv4+ipv6'),
  ipv4,
  ipv6,
  mptcp,
  controller: text,
  'accept-all-mac-addresses': flag,
  'copy-mac-from': text,
  'ovs-db': ovsDatabase,
  '802.1x': authentication,
  lldp: mapping({ neighbors: z.unknown() }, { enabled: flag }),
  ethtool,
  dispatch: openMapping({ 'post-activation': text, 'post-deactivation': text }),
  'alt-names': list(mapping({ state: words('absent') }, { name: text })),
};

const adapter = { ethernet, veth };

/** The sections of each type. */
const SECTIONS: Readonly<Record<string, z.ZodRawShape>> = {
  bond: { 'link-aggregation': bond, bond },
  dummy: {},
  ethernet: adapter,
  hsr: { hsr },
  infiniband: { infiniband },
  'ip-tunnel': { 'ip-tunnel': ipTunnel },
  ipsec: { libreswan },
  ipvlan: { ipvlan },
  'linux-bridge': { bridge: linuxBridge },
  loopback: {},
  'mac-vlan': { 'mac-vlan': macVlan },
  'mac-vtap': { 'mac-vtap': macVlan },
  macsec: { macsec },
  'ovs-bridge': { bridge: ovsBridge },
  'ovs-interface': { patch, dpdk },
  veth: adapter,
  vlan: { vlan },
  vrf: { vrf },
  vxlan: { vxlan },
  xfrm: {},
};

export const TYPES: readonly string[] = Object.keys(SECTIONS);

/** The type of an interface that has a section of this name. */
export const typeOfSection = (name: string): string | undefined =>
  TYPES.find((type) => Object.hasOwn(SECTIONS[type] ?? {}, name));

const schemas = new Map(
  TYPES.map((type) => {
    const schema = mapping({ ...COMMON, ...SECTIONS[type] });
    return [type, type === 'bond' ? onlyOneOf(schema, ['link-aggregation', 'bond']) : schema];
  }),
);

/** Where the type is a fault itself, its sections are not judged. */
const undecided = mapping({
  ...COMMON,
  ...Object.fromEntries(
    Object.values(SECTIONS)
      .flatMap((sections) => Object.keys(sections))
      .map((name) => [name, z.unknown()]),
  ),
});

/** What nmstate reads of an interface of this type. */
export const interfaceSchema = (type: string | undefined): z.ZodObject =>
  schemas.get(type ?? '') ?? undecided;

/** What nmstate reads of an interface that is to be removed: it drops the rest. */
export const absentSchema = openMapping({
  ...{ name: COMMON.name, type: COMMON.type, state: COMMON.state },
  ...{ identifier: COMMON.identifier, 'mac-address': COMMON['mac-address'] },
  'pci-address': COMMON['pci-address'],
});
