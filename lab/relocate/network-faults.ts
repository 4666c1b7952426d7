import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { FailureCode } from '../../lib/base/errors/codes.ts';
import { EXIT } from '../../lib/base/errors/exit-codes.ts';
import { Failure } from '../../lib/base/errors/failure.ts';
import { quickly } from '../host/command.ts';
import { teardownSignal } from '../host/mount.ts';
import { plugIn, portOf, SITE } from '../host/network.ts';
import { waitForStep } from '../host/wait-for-step.ts';
import { siteHost } from '../relocation.ts';
import { type NetworkOptions, staticNetwork } from './networks.ts';
import type { Ended, ShippedNode } from './shipped-node.ts';
import { expectUnchanged, snapshotOf } from './unchanged.ts';

const { bridge: GATEWAY } = SITE.segments.IPv4;
const NOBODY = '10.77.0.254';
const NEIGHBOUR = '10.77.0.50';
const SILENT_SERVER = '10.77.0.53';
/** Behind the gateway: TEST-NET-2 (RFC 5737). */
const BEYOND = '198.51.100.1';

type Surroundings = (run: ShippedNode, look: () => Promise<void>) => Promise<void>;

/** What a site's network has, and what the volume says of it. */
export interface NetworkFault {
  readonly name: string;
  readonly address?: string;
  readonly gateway?: string;
  readonly network?: NetworkOptions;
  readonly checks: readonly Readonly<Record<string, string>>[];
  /** What else is so at the site. */
  readonly around?: Surroundings;
  /** By which it is refused: one of them. */
  readonly codes: readonly FailureCode[];
  /** What the technician is told to do. */
  readonly fix: RegExp;
}

const cable = /Check the cable/;
const servers = /Check the name servers/;

/** The cable is not plugged in, or the port of the switch is off. */
const unplugged: Surroundings = async ({ context: { signal } }, look) => {
  const port = portOf(siteHost);
  await quickly('ip', ['link', 'set', port, 'down'], signal);
  try {
    await look();
  } finally {
    // Another one since the host has restarted.
    await quickly('ip', ['link', 'set', port, 'up'], teardownSignal()).catch(() => undefined);
  }
};

/** The lab's end of the network of the site has this address, with its prefix, too. */
export const withAddress =
  (address: string, flags: readonly string[] = []): Surroundings =>
  async ({ context: { signal } }, look) => {
    const on = [address, 'dev', SITE.bridge];
    await quickly('ip', ['address', 'add', ...on, ...flags], signal);
    try {
      await look();
    } finally {
      await quickly('ip', ['address', 'delete', ...on], teardownSignal());
    }
  };

/** It takes questions, and never answers. */
const silentServer: Surroundings = (run, look) =>
  withAddress(`${SILENT_SERVER}/32`)(run, async () => {
    const socket = createSocket('udp4').bind(53, SILENT_SERVER);
    try {
      await once(socket, 'listening');
      await look();
    } finally {
      socket.close();
    }
  });

/** Another host of the site has the address that the volume gives to this one. */
const neighbour: Surroundings = async ({ context: { signal, teardown } }, look) => {
  const name = 'neighbour';
  const host = { name, mac: '52:54:00:00:00:99', addresses: [NEIGHBOUR], bridge: SITE.bridge };
  const path = await plugIn({ ...host, addresses: [NEIGHBOUR] }, teardown, signal);
  const inside = (...args: string[]) =>
    quickly('nsenter', [`--net=${path}`, 'ip', ...args], signal);
  await inside('address', 'add', `${NEIGHBOUR}/24`, 'dev', 'eth0');
  await inside('link', 'set', 'eth0', 'up');
  await look();
};

/** Networks that a site may have by mistake. Each is taken back. */
export const networkFaults: readonly NetworkFault[] = [
  {
    name: 'no link',
    checks: [{ ping: GATEWAY }],
    around: unplugged,
    codes: ['site-link'],
    fix: /Check the cable in eth0/,
  },
  {
    name: 'address of another host',
    address: NEIGHBOUR,
    checks: [{ ping: GATEWAY }],
    around: neighbour,
    codes: ['site-network', 'site-check'],
    fix: /address/,
  },
  {
    name: 'wrong gateway',
    gateway: NOBODY,
    network: { servers: [GATEWAY] },
    checks: [{ ping: NOBODY }],
    codes: ['site-check'],
    fix: cable,
  },
  {
    name: 'no default route',
    network: { defaultRoute: false },
    checks: [{ ping: GATEWAY }, { ping: BEYOND }],
    around: withAddress(`${BEYOND}/32`),
    codes: ['site-check'],
    fix: new RegExp(`whether ${BEYOND.replaceAll('.', '\\.')} is the right address`),
  },
  {
    name: 'name server silent',
    network: { servers: [SILENT_SERVER] },
    checks: [{ dns: 'api.edge.site.test' }],
    around: silentServer,
    codes: ['site-check'],
    fix: servers,
  },
  {
    name: 'name unknown',
    checks: [{ dns: 'registry.nowhere.test' }],
    codes: ['site-check'],
    fix: servers,
  },
  {
    name: 'network of another site',
    address: '10.78.0.10',
    gateway: '10.78.0.1',
    checks: [{ ping: '10.78.0.1' }],
    codes: ['site-check'],
    fix: cable,
  },
  {
    name: 'nobody gives an address',
    // DHCP at this site knows the host by another one.
    network: {
      adapter: { 'mac-address': '52:54:00:00:00:98', ipv4: { enabled: true, dhcp: true } },
      defaultRoute: false,
    },
    checks: [{ ping: GATEWAY }],
    codes: ['site-network', 'site-check'],
    fix: /Correct raw_nm_state_config|Check the cable/,
  },
  {
    name: 'VLAN that the switch has not',
    network: {
      adapter: { ipv4: { enabled: false } },
      interfaces: [
        {
          name: 'eth0.7',
          type: 'vlan',
          state: 'up',
          vlan: { 'base-iface': 'eth0', id: 7 },
          ipv4: {
            enabled: true,
            dhcp: false,
            address: [{ ip: siteHost.addresses[0], 'prefix-length': 24 }],
          },
        },
      ],
      defaultRoute: false,
    },
    checks: [{ ping: GATEWAY }],
    // Where the kernel has VLANs, its switch does not answer.
    codes: ['site-network', 'site-check'],
    fix: /Correct raw_nm_state_config|Check the cable/,
  },
  {
    name: 'server behind a firewall',
    checks: [{ tcp: `${GATEWAY}:5999` }],
    codes: ['site-check'],
    fix: /Ask the administrator of the site/,
  },
  {
    name: 'registry away',
    checks: [{ https: `https://${GATEWAY}:8443/` }],
    codes: ['site-check'],
    fix: /Ask the administrator of the site/,
  },
];

/**
 * The volume of a fault is inserted into a node that works; the node stops, tries, and is back as it was.
 *
 * @throws Failure (fatal) with what is otherwise
 */
export async function meetNetworkFault(run: ShippedNode, fault: NetworkFault): Promise<Ended> {
  const { signal } = run.context;
  const { address = siteHost.addresses[0], gateway = GATEWAY, network, checks, around } = fault;
  await run.expectFactoryCluster();
  const before = await snapshotOf(run.booted, signal);
  const config = {
    api_version: 1,
    cluster_name: 'edge',
    base_domain: 'site.test',
    siteChecks: [...checks],
    raw_nm_state_config: staticNetwork(address, gateway, network),
  };
  const look = async () => {
    const since = new Date().toISOString();
    ended = await run.bring('ISO', { config }, async () => {
      await waitForStep(run.booted, 'reconfigure', ['network', 'started'], signal, since);
      await run.expectStopped();
    });
  };
  let ended: Ended | undefined;
  await (around ?? ((_, meet) => meet()))(run, look);
  if (ended === undefined) throw new Error('the volume was not inserted');
  expectTold(ended, { outcome: 'reverted', exitCode: EXIT.fatal, ...fault });
  await run.drive.eject(run.booted, signal);
  await run.expectFactoryCluster();
  expectUnchanged(before, await snapshotOf(run.booted, signal));
  return ended;
}

/** What support and the technician have to find. */
export interface Told {
  readonly outcome: Ended['outcome'];
  readonly codes: readonly string[];
  readonly exitCode: number;
  /** On the login prompt, or the console if nothing was accepted. */
  readonly fix: RegExp;
}

export function expectTold(ended: Ended, { outcome, codes, exitCode, fix }: Told): void {
  const said = ended.outcome === 'not accepted' ? ended.console : ended.prompt;
  const isNamed = codes.length === 0 || codes.includes(ended.code);
  if (ended.outcome === outcome && isNamed && ended.exitCode === exitCode && fix.test(said)) return;
  throw new Failure('fatal', 'the volume ended otherwise', {
    expected: `${outcome}, ${codes.join(' or ')}, exit code ${exitCode}, "${fix.source}"`,
    found: `${ended.outcome}, ${ended.code}, exit code ${ended.exitCode}: ${said}`,
  });
}
