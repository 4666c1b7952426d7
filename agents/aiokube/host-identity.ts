import { Failure } from '../../lib/base/errors/failure.ts';
import { lostAddress } from '../../lib/base/network/node-ips.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { readTextIfPresent, writeFileAtomic } from '../../lib/host/files.ts';
import {
  kubeletEnvironmentPath,
  kubeletEnvironmentText,
} from '../../lib/host/kubelet-environment.ts';
import { hostAddresses } from '../../lib/host/network.ts';
import { loadIdentity, type RenderedIdentity } from '../../lib/render/store.ts';
import type { HostContext } from '../steps/host-context.ts';

/**
 * Keeps the name and the addresses for which the control plane was rendered: they are in
 * certificates and will be in the Node. A host that has lost one of them, as after an interrupted
 * installation and another DHCP lease, must not register under another name.
 */
export const aioHostIdentity: StepBody<HostContext> = {
  name: 'host-identity',
  leaves: "the host's name in /etc/hostname, and its addresses for the kubelet",
  touches: ['disk', 'network'],
  retries: true,
  input: ({ paths }) => loadIdentity(paths),
  async holds(context, { signal }) {
    const identity = await loadIdentity(context.paths);
    const addresses = (await hostAddresses(signal)).map(({ address }) => address);
    return (
      context.hostname() === identity.hostname &&
      lostAddress(identity.nodeIps, addresses) === undefined &&
      (await isWritten(context, identity))
    );
  },
  async run(context, { signal }) {
    const identity = await loadIdentity(context.paths);
    if (context.hostname() !== identity.hostname) {
      throw changed("the host's name", identity.hostname, context.hostname());
    }
    const addresses = (await hostAddresses(signal)).map(({ address }) => address);
    const lost = lostAddress(identity.nodeIps, addresses);
    if (lost !== undefined) {
      const found = lost.found.join(', ') || 'no address';
      throw changed(`the host's ${lost.family} address`, lost.expected, found);
    }
    for (const [path, contents] of filesOf(context, identity)) {
      await writeFileAtomic(path, contents, 0o644);
    }
    return done([identity.hostname, ...identity.nodeIps].join(', '));
  },
};

const filesOf = ({ paths }: HostContext, { hostname, nodeIps }: RenderedIdentity) =>
  [
    [paths.at('/etc/hostname'), `${hostname}\n`],
    [kubeletEnvironmentPath(paths), kubeletEnvironmentText({ nodeIps })],
  ] as const;

async function isWritten(context: HostContext, identity: RenderedIdentity): Promise<boolean> {
  for (const [path, contents] of filesOf(context, identity)) {
    if ((await readTextIfPresent(path)) !== contents) return false;
  }
  return true;
}

/** Retried until the deadline: an address may be assigned late. */
function changed(what: string, expected: string, found: string): Failure {
  return new Failure('retry', `${what} has changed since the control plane was rendered`, {
    code: 'identity-changed',
    expected,
    found,
    fix: `Restore ${expected} on the host (DHCP reservation, DNS or configuration) and run "systemctl start aiokube.service".`,
  });
}
