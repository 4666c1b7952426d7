import { KubeClient } from '../../lib/clients/kube/client.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { validityOf } from '../../lib/pki/certificate.ts';
import { approverAccess } from '../../lib/render/approver-access.ts';
import { approveUntil, isForThisHost, servingPair } from './approve-until.ts';
import type { HostContext } from './host-context.ts';

const MINUTE_MS = 60_000;

/**
 * Approves the serving certificate requested by this node's kubelet, by the policy of lib/cluster/csr,
 * using an identity without any other rights. Requests from others are
 * reported and left pending.
 */
export const servingCertificate: StepBody<HostContext> = {
  name: 'serving-certificate',
  leaves: "the kubelet's serving certificate, issued for this node's name and addresses",
  touches: ['disk', 'api', 'clock'],
  retries: true,
  neededUntil: 'clean',
  input: ({ hostname }) => hostname(),
  async holds(context, { signal }) {
    const pem = await servingPair(context.paths);
    return pem !== undefined && (await isValidHere(context, pem, signal));
  },
  async run(context, progress) {
    const { cluster, paths } = context;
    // The API server checks it with every request, so it outlives the step.
    const lifetimeMs = Math.max(0, progress.remainingMs()) + MINUTE_MS;
    using client = new KubeClient(await approverAccess(cluster.controlPlane, paths, lifetimeMs));
    await approveUntil(context, client, progress, {
      isAwaited: (pem) => isValidHere(context, pem, progress.signal),
      waitingFor: "the kubelet's serving certificate",
    });
    return done();
  },
};

async function isValidHere(context: HostContext, pem: string, signal: AbortSignal) {
  const { notBefore, notAfter } = validityOf(pem);
  const now = new Date();
  return notBefore <= now && now < notAfter && (await isForThisHost(context, pem, signal));
}
