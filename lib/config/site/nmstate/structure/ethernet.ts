import { FEATURES } from './features.ts';
import {
  flag,
  list,
  macAddress,
  mapping,
  openMapping,
  text,
  U8,
  U16,
  U32,
  value,
  whole,
  words,
} from './values.ts';

/** What adapters have: `ethernet`, `ethtool`, `veth`, `infiniband` (nmstate 2.2, ifaces/). */

export const vlanProtocol = words('802.1q', '802.1ad');

const virtualFunction = mapping(
  {
    'iface-name': text,
    'mac-address': macAddress,
    'spoof-check': flag,
    trust: flag,
    'min-tx-rate': whole(0, U32),
    'max-tx-rate': whole(0, U32),
    'vlan-id': whole(0, 4095),
    qos: whole(0, 7),
    'vlan-proto': vlanProtocol,
  },
  { id: whole(0, U32) },
);

export const ethernet = mapping({
  'sr-iov': mapping({
    'drivers-autoprobe': flag,
    'total-vfs': whole(0, U32),
    'max-vfs': whole(0, U32),
    vfs: list(virtualFunction),
  }),
  'auto-negotiation': flag,
  speed: whole(0, U32),
  duplex: words('full', 'half'),
});

export const veth = openMapping({}, { peer: text });

const numbers = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, whole(0, U32)]));

/** Less than other flags (ethtool.rs, parse_ethtool_feature). */
const feature = value(
  'true or false',
  (given) =>
    typeof given === 'boolean' || (typeof given === 'string' && /^(true|false|0|1)$/i.test(given)),
);

export const ethtool = mapping({
  pause: mapping({ rx: flag, tx: flag, autoneg: flag }),
  feature: mapping(Object.fromEntries(FEATURES.map((name) => [name, feature]))),
  coalesce: mapping({
    'adaptive-rx': flag,
    'adaptive-tx': flag,
    ...numbers('pkt-rate-high', 'pkt-rate-low', 'sample-interval', 'stats-block-usecs'),
    ...numbers('rx-frames', 'rx-frames-high', 'rx-frames-irq', 'rx-frames-low'),
    ...numbers('rx-usecs', 'rx-usecs-high', 'rx-usecs-irq', 'rx-usecs-low'),
    ...numbers('tx-frames', 'tx-frames-high', 'tx-frames-irq', 'tx-frames-low'),
    ...numbers('tx-usecs', 'tx-usecs-high', 'tx-usecs-irq', 'tx-usecs-low'),
  }),
  ring: mapping(
    numbers(
      ...['rx', 'rx-max', 'rx-jumbo', 'rx-jumbo-max', 'rx-mini', 'rx-mini-max', 'tx', 'tx-max'],
    ),
  ),
  fec: mapping({ auto: flag, mode: words('off', 'rs', 'baser', 'llrs') }),
});

export const infiniband = mapping(
  { 'base-iface': text },
  { mode: words('datagram', 'connected'), pkey: whole(0, U16) },
);

export const hsr = mapping(
  { interlink: text, 'supervision-address': text },
  {
    port1: text,
    port2: text,
    'multicast-spec': whole(0, U8),
    protocol: words('hsr', 'hsr-2010', 'hsr-2012', 'prp'),
  },
);
