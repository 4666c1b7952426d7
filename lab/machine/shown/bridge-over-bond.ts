import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { parseJson } from '../../../lib/base/json.ts';
import { SITE } from '../../host/network.ts';
import { siteHost } from '../../relocation.ts';
import type { MediaNode } from './media-node.ts';

const BRIDGE = 'site-bridge';
const BOND = 'site-bond';
const VLAN = 'site-tills';
const VLAN_ADDRESS = '192.0.2.7';
const { bridge: GATEWAY } = SITE.segments.IPv4;

const linksSchema = z.array(
  z.object({
    ifname: z.string(),
    operstate: z.string(),
    master: z.string().optional(),
    link: z.string().optional(),
  }),
);
type Links = z.infer<typeof linksSchema>;

const noAddress = { ipv4: { enabled: false }, ipv6: { enabled: false } };
const address = (ip: string) => ({
  ipv4: { enabled: true, dhcp: false, address: [{ ip, 'prefix-length': 24 }] },
});

/** nmstate: the address of the site on a bridge, whose port is a bond of this adapter; the VLAN is of the bridge. */
const network = (adapter: string, ip: string) => ({
  interfaces: [
    { name: adapter, type: 'ethernet', state: 'up', ...noAddress },
    {
      ...{ name: BOND, type: 'bond', state: 'up', ...noAddress },
      'link-aggregation': { mode: 'active-backup', port: [adapter] },
    },
    {
      ...{ name: BRIDGE, type: 'linux-bridge', state: 'up', ...address(ip) },
      bridge: { options: { stp: { enabled: false } }, port: [{ name: BOND }] },
    },
    {
      ...{ name: VLAN, type: 'vlan', state: 'up', ...address(VLAN_ADDRESS) },
      vlan: { 'base-iface': BRIDGE, id: 20 },
    },
  ],
  routes: {
    config: [
      {
        destination: '0.0.0.0/0',
        'next-hop-address': GATEWAY,
        'next-hop-interface': BRIDGE,
      },
    ],
  },
  'dns-resolver': { config: { server: [GATEWAY] } },
});

/** The interface with the default route. */
async function adapterOf(node: MediaNode): Promise<string> {
  const routes = parseJson(await node.ip('route', 'show', 'default'));
  const [first] = z.array(z.object({ dev: z.string() })).parse(routes);
  if (first !== undefined) return first.dev;
  throw new Failure('fatal', 'the host has no default route');
}

function requireBuilt(links: Links, adapter: string): void {
  const find = (name: string) => links.find(({ ifname }) => ifname === name);
  const isBuilt =
    find(adapter)?.master === BOND &&
    find(BOND)?.master === BRIDGE &&
    find(VLAN)?.link === BRIDGE &&
    find(VLAN)?.operstate === 'UP';
  if (isBuilt) return;
  throw new Failure('fatal', 'the kernel has other interfaces than the site wants', {
    expected: `${adapter} in ${BOND} in ${BRIDGE}, and ${VLAN} of ${BRIDGE}`,
    found: links.map(({ ifname, master, link }) => `${ifname}: ${master ?? link ?? ''}`).join(', '),
  });
}

/** The site's network is built of the kernel's own devices, and the node is at work behind them. */
export async function bridgeOverBond(node: MediaNode): Promise<void> {
  const adapter = await adapterOf(node);
  const name = 'bridged';
  const image = await node.volumeFor(name, 'ISO', {
    raw_nm_state_config: network(adapter, siteHost.addresses[0]),
  });
  await node.becomes(name, () => node.devices.insertCd(image));
  const shown = parseJson(await node.ip('link', 'show'));
  requireBuilt(linksSchema.parse(shown), adapter);
}
