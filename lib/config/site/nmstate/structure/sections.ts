import { z } from 'zod';
import {
  flag,
  list,
  mapping,
  onlyOneOf,
  openMapping,
  plainWhole,
  text,
  U32,
  value,
  whole,
  words,
} from './values.ts';

/** The sections of a document besides interfaces (nmstate 2.2, net_state.rs). */

export const route = mapping({
  state: words('absent', 'ignore'),
  destination: text,
  'next-hop-interface': text,
  'next-hop-address': text,
  metric: whole(-1, U32),
  'table-id': whole(0, U32),
  weight: whole(1, 256),
  'route-type': words('blackhole', 'unreachable', 'prohibit'),
  cwnd: whole(1, U32),
  source: text,
  initcwnd: whole(0, U32),
  initrwnd: whole(0, U32),
  mtu: whole(1, U32),
  quickack: flag,
  advmss: whole(1, U32),
  'lock-mtu': flag,
  'vrf-name': text,
});

const rule = onlyOneOf(
  mapping({
    family: words('ipv4', 'ipv6'),
    state: words('absent'),
    'ip-from': text,
    'ip-to': text,
    priority: whole(-1, U32),
    'route-table': whole(0, U32),
    fwmark: whole(0, U32),
    fwmask: whole(0, U32),
    action: words('blackhole', 'unreachable', 'prohibit'),
    iif: text,
    'suppress-prefix-length': plainWhole(0, U32),
    suppress_prefixlength: plainWhole(0, U32),
  }),
  ['suppress-prefix-length', 'suppress_prefixlength'],
);

const PLAIN_OPTIONS = [
  ...['debug', 'edns0', 'inet6', 'ip6-bytestring', 'ip6-dotint', 'no-aaaa', 'no-check-names'],
  ...['no-ip6-dotint', 'no-reload', 'no-tld-query', 'rotate', 'single-request'],
  ...['single-request-reopen', 'trust-ad', 'use-vc'],
];

const dnsOption = value(
  'an option of resolv.conf, such as rotate or timeout:1',
  (given) =>
    typeof given === 'string' &&
    (PLAIN_OPTIONS.includes(given) || /^(ndots|timeout|attempts):/.test(given)),
);

/** nmstate turns numbers and words into texts. */
const settings = z.record(
  z.string(),
  value('a text', (given) => typeof given !== 'object'),
  { error: 'a mapping' },
);

const resolver = mapping({ server: list(text), search: list(text), options: list(dnsOption) });

export const SECTION_SCHEMAS = {
  routes: mapping({ config: list(route), running: list(route) }),
  'route-rules': mapping({ config: list(rule) }),
  'dns-resolver': mapping({ config: resolver, running: resolver }),
  'ovs-db': mapping({
    external_ids: settings,
    other_config: settings,
  }),
  ovn: mapping({
    'bridge-mappings': list(
      openMapping({ bridge: text, state: words('present', 'absent') }, { localnet: text }),
    ),
  }),
  description: text,
};
