import { Failure } from '../../../lib/base/errors/failure.ts';
import { familyOf } from '../../../lib/base/network/address.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { run } from '../../../lib/host/command.ts';
import { readTextIfPresent, removeFile, writeFileAtomic } from '../../../lib/host/files.ts';
import { BRIDGE } from '../../../lib/host/internal-bridge.ts';
import { readKubeletEnvironment } from '../../../lib/host/kubelet-environment.ts';
import { hostAddresses } from '../../../lib/host/network.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { bridgeProfile, bridgeProfilePath } from '../../../lib/relocation/relocatable/bridge.ts';
import type { HostContext } from '../host-context.ts';

const NMCLI_MS = 30_000;

/**
 * Keeps the address of the installation on a bridge of its own. The adapter may have it as well: an address is
 * the host's, whatever interface it is on.
 */
export const internalAddress: StepBody<HostContext> = {
  name: 'internal-address',
  leaves: `the address of the installation on ${BRIDGE}, which no network of a site takes away`,
  touches: ['disk', 'network'],
  retries: true,
  input: async ({ paths }) => (await readKubeletEnvironment(paths))?.nodeIps,
  async holds({ paths }, { signal }) {
    const address = await installedAddress(paths);
    const profile = await readTextIfPresent(paths.at(bridgeProfilePath));
    return profile === bridgeProfile(address) && (await isOnBridge(address, signal));
  },
  async run({ paths }, { signal }) {
    const address = await installedAddress(paths);
    const path = paths.at(bridgeProfilePath);
    await writeFileAtomic(path, bridgeProfile(address), 0o600);
    const limits = { signal, deadlineMs: NMCLI_MS };
    await run('nmcli', ['connection', 'load', path], limits);
    await run('nmcli', ['--wait', '20', 'connection', 'up', BRIDGE], limits);
    if (await isOnBridge(address, signal)) return done(address);
    throw new Failure('retry', `${BRIDGE} has not the address ${address}`, {
      fix: `See "nmcli device show ${BRIDGE}".`,
    });
  },
};

/** @throws Failure (usage) if the adapter has lost the address: the node would be without one. */
export const withoutInternalAddress: StepBody<HostContext> = {
  name: 'internal-address',
  leaves: `no ${BRIDGE}; the address of the installation on an adapter only`,
  touches: ['disk', 'network'],
  retries: true,
  input: () => 'removed',
  holds: async ({ paths }, { signal }) =>
    (await readTextIfPresent(paths.at(bridgeProfilePath))) === undefined &&
    !(await hostAddresses(signal)).some(({ interfaceName }) => interfaceName === BRIDGE),
  async run({ paths }, { signal }) {
    const address = await installedAddress(paths);
    const others = (await hostAddresses(signal)).filter((each) => each.interfaceName !== BRIDGE);
    if (!others.some((each) => each.address === address)) {
      throw new Failure('usage', `no adapter has the address ${address}`, {
        expected: 'the network of the installation',
        found: others.map((each) => `${each.address} on ${each.interfaceName}`).join(', '),
        fix: 'Connect the host to that network first.',
      });
    }
    const limits = { signal, deadlineMs: NMCLI_MS };
    // It has no connection where an earlier attempt was interrupted behind this line.
    await run('nmcli', ['connection', 'delete', BRIDGE], limits).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
    });
    await removeFile(paths.at(bridgeProfilePath));
    return done();
  },
};

const isOnBridge = async (address: string, signal: AbortSignal): Promise<boolean> =>
  (await hostAddresses(signal)).some(
    (each) => each.interfaceName === BRIDGE && each.address === address,
  );

/**
 * The address that the Node registers.
 * @throws Failure (usage) if there are two, or it is one of IPv6
 */
export async function installedAddress(paths: Pick<HostPaths, 'config'>): Promise<string> {
  const { nodeIps = [] } = (await readKubeletEnvironment(paths)) ?? {};
  const [address] = nodeIps;
  if (address !== undefined && nodeIps.length === 1 && familyOf(address) === 'IPv4') return address;
  throw new Failure('usage', 'the node cannot keep its address as an internal one', {
    expected: 'one address of IPv4 in /etc/sno-agents/kubelet.env',
    found: nodeIps.join(', ') || 'none',
    fix: 'A relocatable node is installed in a network of IPv4 alone.',
  });
}
