import { join } from 'node:path';
import { EXIT } from '../../lib/base/errors/exit-codes.ts';
import { Failure } from '../../lib/base/errors/failure.ts';
import { run as runProgram } from '../../lib/host/command.ts';
import { exists } from '../../lib/host/files.ts';
import { BRIDGE } from '../../lib/host/internal-bridge.ts';
import { eventually } from '../eventually.ts';
import { bootAgain, clockOff } from '../faults/cells/faults.ts';
import { untilOff } from '../faults/cells/trial.ts';
import { SECOND_SITE, SITE } from '../host/network.ts';
import { onHost } from '../host/on-host.ts';
import { siteHost } from '../relocation.ts';
import { Drive } from './drive.ts';
import { expectTold, withAddress } from './network-faults.ts';
import { staticNetwork } from './networks.ts';
import { type Ended, PLACES, type ShippedNode } from './shipped-node.ts';
import { expectUnchanged, snapshotOf } from './unchanged.ts';
import type { MediumKind, VolumeInput } from './volume.ts';

const CREATE_MS = 60_000;
const ANSWER_MS = 2 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
const { bridge: GATEWAY } = SITE.segments.IPv4;
const { bridge: SECOND_GATEWAY } = SECOND_SITE.segments.IPv4;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

const NOT_ACCEPTED = { outcome: 'not accepted', codes: [], exitCode: EXIT.usage } as const;
const OLDER = /used before, or an earlier one/;

/** A site by DHCP. Each has another domain. */
export const siteConfig = (name: string, more: VolumeInput['config'] = {}) => ({
  api_version: 1,
  cluster_name: name,
  base_domain: 'site.test',
  hostname: `${name}.site.test`,
  siteChecks: [{ ping: GATEWAY }],
  ...more,
});

/** A volume that the node uses: PASS, and its API shows the certificate of the new name at the address of the site. */
export async function expectSite(
  run: ShippedNode,
  name: string,
  ended: Ended,
  address: string = siteHost.addresses[0],
): Promise<void> {
  expectTold(ended, { outcome: 'configured', codes: [''], exitCode: EXIT.done, fix: /PASS/ });
  const { signal } = run.context;
  const hostname = await onHost(run.booted, ['hostname'], signal);
  if (hostname !== `${name}.site.test`) {
    throw new Failure('fatal', 'the host has another name', { found: hostname });
  }
  await answers(run, `api.${name}.site.test`, address);
}

/** By its name, at the address of the site, over TLS with the authority of the site. */
async function answers(run: ShippedNode, name: string, address: string): Promise<void> {
  const { signal } = run.context;
  const ca = join(run.booted.rootDir, 'etc/kubernetes/pki/kubelet/api-ca.crt');
  const url = `https://${name}:6443/readyz`;
  const curl = ['--silent', '--show-error', '--max-time', '5', '--cacert', ca];
  const ask = () =>
    runProgram('curl', [...curl, '--resolve', `${name}:6443:${address}`, url], {
      signal,
      deadlineMs: 10_000,
    });
  await eventually(ask, ANSWER_MS, signal);
}

/** A volume that the node does not take: it says why, and nothing has changed. */
async function refused(
  run: ShippedNode,
  says: RegExp,
  meet: () => Promise<Ended>,
): Promise<string> {
  const { signal } = run.context;
  const before = await snapshotOf(run.booted, signal);
  const ended = await meet();
  expectTold(ended, { ...NOT_ACCEPTED, fix: says });
  await run.drive.eject(run.booted, signal);
  expectUnchanged(before, await snapshotOf(run.booted, signal));
  return 'refused';
}

/** What a sealed node refuses before it changes anything. */
export const refusals: Readonly<Record<string, (run: ShippedNode) => Promise<string>>> = {
  'signed by nobody': (run) =>
    refused(run, /sign/i, async () => {
      const image = await run.createUnsigned({ config: siteConfig('edge') });
      return run.meet((drive) => drive.insert(run.booted, image, run.context.signal));
    }),
  'signed by somebody else': (run) =>
    refused(run, /sign/i, async () => {
      const { signal, folder } = run.context;
      const key = join(folder, 'foreign-key');
      const generate = ['-q', '-t', 'ed25519', '-N', '', '-f', key];
      await runProgram('ssh-keygen', generate, { signal, deadlineMs: CREATE_MS });
      return run.bring('ISO', { config: siteConfig('edge'), key });
    }),
  'for another node': (run) =>
    refused(run, /another node/, () =>
      run.bring('ISO', { config: siteConfig('edge', { hosts: ['52:54:00:00:00:77'] }) }),
    ),
  'adapter that it has not': (run) =>
    refused(run, /eth7/, () => {
      const network = staticNetwork(siteHost.addresses[0], GATEWAY, { adapter: { name: 'eth7' } });
      const config = siteConfig('edge', {
        raw_nm_state_config: {
          ...network,
          routes: { config: [] },
        },
      });
      return run.bring('ISO', { config });
    }),
  'two volumes': async (run) => {
    const { signal, teardown } = run.context;
    const other = new Drive(teardown);
    const { image } = await run.createVolume('ISO', { config: siteConfig('other') });
    await other.insert(run.booted, image, signal, false);
    try {
      return await refused(run, /more than one site volume/, async () => {
        const own = await run.createVolume('ISO', { config: siteConfig('edge') });
        return run.meet(async (drive) => {
          await drive.insert(run.booted, own.image, signal, false);
          // Both before the agent has started.
          await Promise.all([other, drive].map((each) => each.announce(run.booted, signal)));
        });
      });
    } finally {
      await other.eject(run.booted, signal);
    }
  },
  'expired, by a clock that is a year ahead': async (run) => {
    let outcome = '';
    await clockOff('reconfigure', 365)(run, run.context.signal, async () => {
      outcome = await refused(run, /expired/, () =>
        run.bring('ISO', { config: siteConfig('edge', { validUntil: inDays(30) }) }),
      );
    });
    return outcome;
  },
};

/** An earlier volume, whatever the clock of the agent says. */
const replayed = async (run: ShippedNode, days: number): Promise<string> => {
  let outcome = '';
  await clockOff('reconfigure', days)(run, run.context.signal, async () => {
    outcome = await refused(run, OLDER, () =>
      run.bring('ISO', { config: siteConfig('replayed', { serial: 99 }) }),
    );
  });
  return outcome;
};

/** One after another on one node: the first breaks the seal. */
export const arrivals: Readonly<Record<string, (run: ShippedNode) => Promise<string>>> = {
  'virtual CD, static address': async (run) => {
    const network = staticNetwork(siteHost.addresses[0], GATEWAY);
    const config = siteConfig('edge', { raw_nm_state_config: network });
    await expectSite(run, 'edge', await run.bring('ISO', { config }));
    return 'success';
  },
  'addresses of both families': async (run) => {
    const { bridge, network } = SITE.segments.IPv6;
    const address = network.replace('::/64', '::10');
    const ipv6 = {
      enabled: true,
      dhcp: false,
      autoconf: false,
      address: [{ ip: address, 'prefix-length': 64 }],
    };
    const own = staticNetwork(siteHost.addresses[0], GATEWAY, { adapter: { ipv6 } });
    const config = siteConfig('both', {
      siteChecks: [{ ping: GATEWAY }, { ping: bridge }],
      raw_nm_state_config: own,
    });
    await withAddress(`${bridge}/64`, ['nodad'])(run, async () => {
      await run.drive.eject(run.booted, run.context.signal);
      await expectSite(run, 'both', await run.bring('ISO', { config }));
      await answers(run, 'api.both.site.test', `[${address}]`);
    });
    return 'success';
  },
  'same volume again': async (run) => {
    const { signal } = run.context;
    const { device } = run.drive;
    if (device === undefined) throw new Error('the volume is not in the drive');
    const ended = await run.meet((drive) => drive.appear(run.booted, signal));
    expectTold(ended, { outcome: 'ignored', codes: [''], exitCode: EXIT.done, fix: /PASS/ });
    return 'ignored';
  },
  'earlier volume, by a clock that is a year behind': (run) => replayed(run, -365),
  'earlier volume, by a clock that is a year ahead': (run) => replayed(run, 365),
  'CD swapped': async (run) => {
    const { signal } = run.context;
    const stale = await run.bring('ISO', { config: siteConfig('stale', { serial: 98 }) });
    expectTold(stale, { ...NOT_ACCEPTED, fix: OLDER });
    const { image } = await run.createVolume('ISO', { config: siteConfig('swapped') });
    const ended = await run.meet((drive) => drive.swap(run.booted, image, signal));
    await expectSite(run, 'swapped', ended);
    return 'success';
  },
  'stick with ext4': (run) => onStick(run, 'ext4', 'linux'),
  'stick with FAT': (run) => onStick(run, 'FAT', 'windows'),
  'second site, on a stick with a partition': async (run) => {
    await run.drive.eject(run.booted, run.context.signal);
    await run.moveTo(PLACES.second);
    const [address] = PLACES.second.host.addresses;
    const network = staticNetwork(address, SECOND_GATEWAY);
    const config = siteConfig('second', {
      siteChecks: [{ ping: SECOND_GATEWAY }],
      raw_nm_state_config: network,
    });
    const ended = await run.bring('FAT in a partition', { config });
    await expectSite(run, 'second', ended, address);
    return 'success';
  },
};

async function onStick(run: ShippedNode, kind: MediumKind, name: string): Promise<string> {
  await run.drive.eject(run.booted, run.context.signal);
  await expectSite(run, name, await run.bring(kind, { config: siteConfig(name) }));
  return 'success';
}

/** The way back on request: the site of before, with its name. */
export async function takenBack(run: ShippedNode): Promise<string> {
  const { signal } = run.context;
  await run.drive.eject(run.booted, signal);
  const rollback = ['reconfigure', 'rollback', '--yes'];
  // The host ends while it runs.
  await run.booted.exec(rollback, { timeoutMs: CREATE_MS }, signal).catch(() => undefined);
  await untilOff(run);
  // With it comes the static address of that site.
  await run.connect(PLACES.site);
  await bootAgain(run);
  const hostname = await onHost(run.booted, ['hostname'], signal);
  if (hostname !== 'windows.site.test') {
    throw new Failure('fatal', 'the host has not the name of before', { found: hostname });
  }
  await answers(run, 'api.windows.site.test', siteHost.addresses[0]);
  return 'success';
}

/** In the factory again: the node is one of its installation's network, and takes no volumes any more. */
export async function undo(run: ShippedNode): Promise<string> {
  const { signal } = run.context;
  await run.drive.eject(run.booted, signal);
  await run.moveTo(PLACES.factory);
  await onHost(run.booted, ['reconfigure', 'prepare', '--undo'], signal);
  const left = await onHost(run.booted, ['ip', '-brief', 'link'], signal);
  if (left.includes(BRIDGE)) throw new Failure('fatal', `${BRIDGE} is still there`);
  if (await exists(join(run.booted.rootDir, 'etc/sno-agents/factory.json'))) {
    throw new Failure('fatal', 'the policy of the factory is still there');
  }
  await run.expectFactoryCluster();
  return 'success';
}
