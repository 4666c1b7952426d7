import { X509Certificate } from 'node:crypto';
import { kubeClient } from '../../lib/kube/client.ts';
import { accessTo } from '../../lib/render/access.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import { approveUntil, servingPair } from './approve-until.ts';
import type { HostContext } from './host-context.ts';

/**
 * Approves the serving certificate requested by this node's kubelet, by the policy of lib/csr,
 * using an identity without any other rights. Requests from others are reported and left
 * pending.
 */
export const servingCertificate: StepBody<HostContext> = {
  name: 'serving-certificate',
  leaves: "the kubelet's serving certificate, issued for this node's name and address",
  retries: true,
  neededUntil: 'clean',
  input: ({ hostname }) => hostname(),
  async holds(context) {
    const pem = await servingPair(context.paths);
    return pem !== undefined && isOfThisHost(context, pem);
  },
  async run(context, progress) {
    const { cluster, paths } = context;
    const { csrApprover } = accessTo(cluster.controlPlane).kubeconfigs;
    using client = await kubeClient(paths.at(csrApprover));
    await approveUntil(context, client, progress, {
      isAwaited: (pem) => isOfThisHost(context, pem),
      waitingFor: "the kubelet's serving certificate",
    });
    return done();
  },
};

/** Whether it is for this host's name and valid now. */
function isOfThisHost({ hostname }: HostContext, pem: string): boolean {
  const certificate = new X509Certificate(pem);
  const now = new Date();
  return (
    certificate.checkHost(hostname()) !== undefined &&
    new Date(certificate.validFrom) <= now &&
    now < new Date(certificate.validTo)
  );
}
