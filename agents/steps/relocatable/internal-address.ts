import { Failure } from '../../../lib/base/errors/failure.ts';
import { type NodeIps, nodeIpsSchema } from '../../../lib/base/network/node-ips.ts';
import { type WaitCondition, waitUntil } from '../../../lib/base/wait/wait-until.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { run } from '../../../lib/host/command.ts';
import { readTextIfPresent, removeFile, writeFileAtomic } from '../../../lib/host/files.ts';
import { BRIDGE } from '../../../lib/host/internal-bridge.ts';
import { readKubeletEnvironment } from '../../../lib/host/kubelet-environment.ts';
import { type HostAddress, hostAddresses } from '../../../lib/host/network.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { relabel } from '../../../lib/host/selinux-labels.ts';
import {
  bridgeFiles,
  bridgeProfilePath,
  bridgeScriptPath,
} from '../../../lib/relocation/relocatable/bridge.ts';
import type { HostContext } from '../host-context.ts';

const NMCLI_MS = 30_000;
const SCRIPTS_MS = 20_000;
const PAUSE_MS = 200;

/**
 * Keeps the addresses of the installation on a bridge of its own. The adapter may have them as well: an address is
 * the host's, whatever interface it is on.
 */
export const internalAddress: StepBody<HostContext> = {
  name: 'internal-address',
  leaves: `the addresses of the installation on ${BRIDGE}, which no network of a site takes away`,
  touches: ['disk', 'network'],
  retries: true,
  input: async ({ paths }) => (await readKubeletEnvironment(paths))?.nodeIps,
  async holds({ paths }, { signal }) {
    const addresses = await installedAddresses(paths);
    for (const { path, contents } of bridgeFiles(addresses)) {
      if ((await readTextIfPresent(paths.at(path))) !== contents) return false;
    }
    return (await missingOnBridge(addresses, signal)).length === 0;
  },
  async run({ paths }, progress) {
    const { signal } = progress;
    const addresses = await installedAddresses(paths);
    const files = bridgeFiles(addresses);
    for (const { path, contents, mode } of files) {
      await writeFileAtomic(paths.at(path), contents, mode);
    }
    await relabel(
      paths,
      files.map(({ path }) => path),
      signal,
    );
    const limits = { signal, deadlineMs: NMCLI_MS };
    await run('nmcli', ['connection', 'load', paths.at(bridgeProfilePath)], limits);
    await run('nmcli', ['--wait', '20', 'connection', 'up', BRIDGE], limits);
    // It says that a bridge is up before its scripts have run.
    await waitUntil(areOnBridge(addresses), {
      signal,
      deadlineMs: Math.min(SCRIPTS_MS, progress.remainingMs()),
      everyMs: PAUSE_MS,
      report: (state) => progress.waitingFor(state),
      late: ({ state }) =>
        new Failure('retry', state, {
          fix: `See "nmcli device show ${BRIDGE}" and "journalctl -u NetworkManager-dispatcher".`,
        }),
    });
    return done(addresses.join(', '));
  },
};

/** @throws Failure (usage) if the adapter has lost an address: the node would be without it. */
export const withoutInternalAddress: StepBody<HostContext> = {
  name: 'internal-address',
  leaves: `no ${BRIDGE}; the addresses of the installation on an adapter only`,
  touches: ['disk', 'network'],
  retries: true,
  input: () => 'removed',
  holds: async ({ paths }, { signal }) =>
    (await readTextIfPresent(paths.at(bridgeProfilePath))) === undefined &&
    (await readTextIfPresent(paths.at(bridgeScriptPath))) === undefined &&
    !(await hostAddresses(signal)).some(isOnBridge),
  async run({ paths }, { signal }) {
    const others = (await hostAddresses(signal)).filter((each) => !isOnBridge(each));
    const lost = without(await installedAddresses(paths), others);
    if (lost.length > 0) {
      throw new Failure('usage', `no adapter has the address ${lost.join(', ')}`, {
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
    await removeFile(paths.at(bridgeScriptPath));
    await removeFile(paths.at(bridgeProfilePath));
    return done();
  },
};

const isOnBridge = ({ interfaceName }: HostAddress): boolean => interfaceName === BRIDGE;

const without = (wanted: readonly string[], found: readonly HostAddress[]): string[] =>
  wanted.filter((each) => !found.some(({ address }) => address === each));

const areOnBridge =
  (addresses: readonly string[]): WaitCondition<undefined> =>
  async ({ signal }) => {
    const missing = await missingOnBridge(addresses, signal);
    if (missing.length === 0) return { met: undefined };
    return { state: `${BRIDGE} does not have the address ${missing.join(', ')}` };
  };

/** Those of these addresses that the bridge has not. */
export const missingOnBridge = async (
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<string[]> => without(wanted, (await hostAddresses(signal)).filter(isOnBridge));

/**
 * The addresses that the Node registers: one, or one of each family.
 * @throws Failure (usage) if there are others
 */
export async function installedAddresses(paths: Pick<HostPaths, 'config'>): Promise<NodeIps> {
  const { nodeIps = [] } = (await readKubeletEnvironment(paths)) ?? {};
  const { data } = nodeIpsSchema.safeParse(nodeIps);
  if (data !== undefined) return data;
  throw new Failure('usage', 'the node cannot keep its address as an internal one', {
    expected: 'one address, or one of each family, in /etc/sno-agents/kubelet.env',
    found: nodeIps.join(', ') || 'none',
  });
}
