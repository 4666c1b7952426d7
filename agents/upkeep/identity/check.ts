import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { lostAddress } from '../../../lib/base/network/node-ips.ts';
import { stillRunning } from '../../../lib/change/exclusion.ts';
import { done, notYet } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { readTextIfPresent } from '../../../lib/host/files.ts';
import { hostAddresses } from '../../../lib/host/network.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { requireValid } from '../../../lib/pki/authority.ts';
import { authorityNames, authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { components } from '../../../lib/render/kubernetes/static-pod.ts';
import { podsIn } from '../../steps/control-plane-pods.ts';
import type { IdentityContext } from './context.ts';
import { heldManifests } from './hold.ts';

/**
 * Waits until the host has the addresses that its Node is to register, and until a backup or renewal
 * that is running has ended. Until the end of this step, nothing on the host has changed. With a clock at which an
 * authority of the host is not valid, the change could not continue after the control plane was stopped.
 */
export const checkIdentityChange: StepBody<IdentityContext> = {
  name: 'check',
  leaves: 'a host that has its new addresses, and no other agent that changes it',
  touches: ['disk', 'network', 'clock'],
  retries: true,
  neededUntil: 'hold',
  input: ({ request }) => request.id,
  // A network that goes down later does not take the change back.
  holds: async () => true,
  async run(context, { signal }) {
    const { paths, request } = context;
    const running = await stillRunning(paths);
    if (running !== undefined) return running;
    const invalid = await invalidAuthority(paths);
    if (invalid !== undefined) return notYet(invalid);
    const placed = [...(await podsIn(paths.staticPods)), ...(await podsIn(heldManifests(paths)))];
    const missing = components.filter((name) => !placed.some((pod) => pod.component === name));
    if (missing.length > 0) {
      throw new Failure('fatal', `${paths.staticPods} has no static pod of ${missing.join(', ')}`, {
        fix: 'Put the manifest back, or restore a backup of it.',
      });
    }
    const addresses = (await hostAddresses(signal)).map(({ address }) => address);
    const lost = lostAddress(request.to.nodeIps, addresses);
    if (lost === undefined) return done(request.to.nodeIps.join(', '));
    return notYet(
      `the host does not have the address ${lost.expected} (${describeError(lost.found.join(', ') || 'none')})`,
    );
  },
};

/** Why an authority can sign nothing now; the clock may not be synchronized yet. */
async function invalidAuthority(paths: HostPaths): Promise<string | undefined> {
  const now = new Date();
  for (const name of authorityNames) {
    const pem = await readTextIfPresent(paths.at(authorityPaths(name).certificate));
    try {
      if (pem !== undefined) requireValid(pem, now);
    } catch (error) {
      return describeError(error);
    }
  }
  return undefined;
}
