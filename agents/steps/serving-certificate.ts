import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { approveServingRequests } from '../../lib/csr/approver.ts';
import { describeDecision } from '../../lib/csr/decision.ts';
import { viewOfThisHost } from '../../lib/csr/this-host.ts';
import { readTextIfPresent } from '../../lib/host/files.ts';
import { waitForFiles } from '../../lib/host/watch.ts';
import { kubeClient } from '../../lib/kube/client.ts';
import { accessTo } from '../../lib/render/access.ts';
import type { Progress } from '../../lib/steps/progress.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
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
  holds: isIssued,
  async run(context, progress) {
    const { cluster, paths } = context;
    using client = await kubeClient(
      paths.at(accessTo(cluster.controlPlane).kubeconfigs.csrApprover),
    );
    const enough = new AbortController();
    const signal = AbortSignal.any([progress.signal, enough.signal]);
    try {
      await progress.wait("the kubelet's serving certificate", () =>
        Promise.race([
          approveServingRequests(client, {
            signal,
            nodeName: context.hostname(),
            host: () => viewOfThisHost(context, signal),
            report: (decision) => progress.say(...describeDecision(decision)),
          }),
          certificateOnDisk(context, progress, signal),
        ]),
      );
    } finally {
      enough.abort();
    }
    return done();
  },
};

const servingPath = ({ paths }: HostContext) =>
  join(paths.kubeletPki, 'kubelet-server-current.pem');

/** Only the kubelet's file shows that it has the certificate; the API shows that it was issued. */
function certificateOnDisk(context: HostContext, progress: Progress, signal: AbortSignal) {
  return waitForFiles([servingPath(context)], () => isIssued(context), {
    signal,
    deadlineMs: progress.remainingMs(),
    describe: () => `${servingPath(context)} to appear`,
  });
}

async function isIssued(context: HostContext): Promise<boolean> {
  const pem = await readTextIfPresent(servingPath(context));
  if (pem === undefined) return false;
  const certificate = new X509Certificate(pem);
  const now = new Date();
  return (
    certificate.checkHost(context.hostname()) !== undefined &&
    new Date(certificate.validFrom) <= now &&
    now < new Date(certificate.validTo)
  );
}
