import { isIPv4 } from 'node:net';
import { z } from 'zod';
import { isWhole, numberIn } from '../values.ts';
import { vlanProtocol } from './ethernet.ts';
import {
  flag,
  ipv6Address,
  list,
  macAddress,
  mapping,
  numberedWords,
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

/** Empty, as nmstate tells an option that is not set. */
const isListOfIpv4 = (given: unknown) =>
  typeof given === 'string' &&
  (given === '' || given.split(',').every((each) => isIPv4(each.trim())));

/** Bonds, bridges and VRFs: interfaces that have others as ports (nmstate 2.2, ifaces/). */

export const bond = onlyOneOf(
  mapping({
    // Its words are in ports.ts, which also suggests one.
    mode: z.unknown(),
    // Limits are those of NetworkManager (nm-setting-bond.c) where nmstate has larger ones.
    options: onlyOneOf(
      mapping({
        ad_actor_sys_prio: whole(1, U16),
        ad_actor_system: macAddress,
        ad_select: numberedWords('stable', 'bandwidth', 'count'),
        ad_user_port_key: whole(0, 1023),
        all_slaves_active: numberedWords('dropped', 'delivered'),
        arp_all_targets: numberedWords('any', 'all'),
        arp_interval: whole(0, U32),
        arp_ip_target: value('IPv4 addresses, separated by commas', isListOfIpv4),
        arp_missed_max: whole(0, U8),
        arp_validate: numberedWords(
          ...['none', 'active', 'backup', 'all', 'filter', 'filter_active', 'filter_backup'],
        ),
        'balance-slb': flag,
        balance_slb: flag,
        downdelay: whole(0, U32),
        fail_over_mac: numberedWords('none', 'active', 'follow'),
        lacp_active: flag,
        lacp_rate: numberedWords('slow', 'fast'),
        lp_interval: whole(1, U32),
        miimon: whole(0, U32),
        min_links: whole(0, U32),
        ns_ip6_target: list(ipv6Address),
        num_grat_arp: whole(0, U8),
        num_unsol_na: whole(0, U8),
        packets_per_slave: whole(0, U16),
        primary: text,
        primary_reselect: numberedWords('always', 'better', 'failure'),
        resend_igmp: whole(0, U8),
        tlb_dynamic_lb: flag,
        updelay: whole(0, U32),
        use_carrier: flag,
        xmit_hash_policy: numberedWords(
          ...['layer2', 'layer3+4', 'layer2+3', 'encap2+3', 'encap3+4', 'vlan+srcmac'],
        ),
      }),
      ['balance-slb', 'balance_slb'],
    ),
    port: list(text),
    ports: list(text),
    'ports-config': list(
      openMapping(
        { priority: whole(-(2 ** 31), 2 ** 31 - 1), 'queue-id': whole(0, U16) },
        { name: text },
      ),
    ),
  }),
  ['port', 'ports'],
);

const tag = whole(1, 4094);

const trunkTag = z.union(
  [
    openMapping({}, { id: tag }),
    openMapping({}, { 'id-range': mapping({}, { min: tag, max: tag }) }),
  ],
  { error: '{id: 100} or {id-range: {min: 100, max: 199}}, with tags from 1 to 4094' },
);

const portVlan = mapping({
  'enable-native': flag,
  mode: words('trunk', 'access'),
  tag: whole(0, 4094),
  'trunk-tags': list(trunkTag),
});

const spanningTree = mapping({
  enabled: flag,
  'forward-delay': whole(2, 30),
  'hello-time': whole(1, 10),
  'max-age': whole(6, 40),
  priority: whole(0, U16),
});

/** Of NetworkManager (nm-setting-bridge.c): never STP, pause frames and LACP. */
const forwardMask = value(
  'an integer from 0 to 65535 without its bits 0, 1 and 2',
  (given) => isWhole(given, 0, U16) && ((numberIn(given) ?? 0) & 7) === 0,
);

const linuxBridgePort = mapping(
  {
    'stp-hairpin-mode': flag,
    // Of NetworkManager (nm-setting-bridge-port.c).
    'stp-path-cost': whole(0, U16),
    'stp-priority': whole(0, 63),
    vlan: portVlan,
  },
  { name: text },
);

export const linuxBridge = onlyOneOf(
  mapping({
    'allow-extra-ports': plainFlag,
    options: mapping({
      'gc-timer': plainWhole(0, U64),
      'group-addr': macAddress,
      'group-forward-mask': forwardMask,
      'group-fwd-mask': forwardMask,
      'hash-max': value(
        'a power of 2',
        (given) => isWhole(given, 1, U32) && Number.isInteger(Math.log2(numberIn(given) ?? 0)),
      ),
      'hello-timer': plainWhole(0, U64),
      'mac-ageing-time': whole(0, U32),
      'multicast-last-member-count': whole(0, U32),
      'multicast-last-member-interval': whole(0, U64),
      'multicast-membership-interval': whole(0, U64),
      'multicast-querier': flag,
      'multicast-querier-interval': whole(0, U64),
      'multicast-query-interval': whole(0, U64),
      'multicast-query-response-interval': whole(0, U64),
      'multicast-query-use-ifaddr': flag,
      'multicast-router': numberedWords('disabled', 'auto', 'enabled'),
      'multicast-snooping': flag,
      'multicast-startup-query-count': whole(0, U32),
      'multicast-startup-query-interval': whole(0, U64),
      stp: spanningTree,
      'vlan-protocol': vlanProtocol,
      'vlan-default-pvid': plainWhole(0, 4094),
    }),
    port: list(linuxBridgePort),
    ports: list(linuxBridgePort),
  }),
  ['port', 'ports'],
);

/** nmstate turns other values into texts. */
const settings = z.record(z.string(), z.unknown(), { error: 'a mapping' });

export const ovsDatabase = mapping({ external_ids: settings, other_config: settings });

const ovsBondPort = openMapping({}, { name: text });

const ovsBond = onlyOneOf(
  mapping({
    mode: words('active-backup', 'balance-slb', 'balance-tcp', 'lacp'),
    port: list(ovsBondPort),
    ports: list(ovsBondPort),
    'bond-downdelay': whole(0, U32),
    'bond-updelay': whole(0, U32),
    'ovs-db': ovsDatabase,
  }),
  ['port', 'ports'],
);

const ovsPort = onlyOneOf(
  mapping({ 'link-aggregation': ovsBond, bond: ovsBond, vlan: portVlan }, { name: text }),
  ['link-aggregation', 'bond'],
);

/** nmstate takes no number here (ovs.rs, ovs_stp_deserializer). */
const ovsFlag = flag.refine((given) => typeof given !== 'number');

export const ovsBridge = onlyOneOf(
  mapping({
    'allow-extra-patch-ports': plainFlag,
    'allow-extra-ports': plainFlag,
    options: mapping({
      stp: z.union([ovsFlag, spanningTree], { error: 'true, false or {enabled: true}' }),
      rstp: flag,
      'mcast-snooping-enable': flag,
      // Of NetworkManager (nm-setting-ovs-bridge.c).
      'fail-mode': words('secure', 'standalone', ''),
      datapath: words('system', 'netdev', ''),
    }),
    port: list(ovsPort),
    ports: list(ovsPort),
  }),
  ['port', 'ports'],
);

export const vrf = onlyOneOf(
  mapping({ port: list(text), ports: list(text), 'route-table-id': whole(1, U32) }),
  ['port', 'ports'],
);
