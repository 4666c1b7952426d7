import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import type { HostContext } from '../steps/host-context.ts';
import { CURRENT, currentIdentity, placeIdentity } from '../steps/kubelet-client-file.ts';
import { isOfNode, issueIdentity } from '../steps/kubelet-identity.ts';

/**
 * Signs the client certificate of this host's kubelet with its CA's key, without an API server: the
 * kubelet needs no bootstrap token, and nobody else can request this node's name.
 */
export const aioKubeletIdentity: StepBody<HostContext> = {
  name: 'kubelet-identity',
  leaves: `the node's client certificate and key, in a dated file behind ${CURRENT}`,
  touches: ['disk', 'clock'],
  input: ({ cluster, hostname }) => [cluster.clusterId, hostname()],
  async holds(context) {
    const pem = await currentIdentity(context.paths);
    return pem !== undefined && isOfNode(pem, context);
  },
  async run(context) {
    const identity = await issueIdentity(context);
    await placeIdentity(context.paths, identity);
    return done(identity.name);
  },
};
