import { kubeClient } from '../../lib/clients/kube/client.ts';
import { approveServingRequests } from '../../lib/cluster/csr/approver.ts';
import { describeDecision } from '../../lib/cluster/csr/decision.ts';
import { viewOfThisHost } from '../../lib/cluster/csr/this-host.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists } from '../../lib/host/files.ts';
import { waitForPath } from '../../lib/host/watch.ts';
import { bootstrapAccess } from '../../lib/render/access.ts';
import type { HostContext } from '../steps/host-context.ts';

/** Watches until bootkube is done. Without a Node, the policy approves nothing. */
export const watchRequests: StepBody<HostContext> = {
  name: 'watch-requests',
  leaves: 'a journal entry for each request that was not approved',
  touches: ['api', 'clock'],
  retries: true,
  input: ({ cluster }) => cluster.clusterId,
  holds: ({ paths }) => exists(paths.bootkubeDone),
  async run(context, progress) {
    const { paths, cluster } = context;
    const { csrApprover } = bootstrapAccess(cluster.controlPlane).kubeconfigs;
    const ended = new AbortController();
    const signal = AbortSignal.any([progress.signal, ended.signal]);
    const limits = { signal, deadlineMs: progress.remainingMs() };
    try {
      await progress.wait('bootkube to finish', () =>
        Promise.race([
          waitForPath(paths.bootkubeDone, limits),
          follow(context, paths.at(csrApprover), progress, signal),
        ]),
      );
    } finally {
      // An open watch would keep the process running.
      ended.abort();
    }
    return done();
  },
};

async function follow(
  context: HostContext,
  kubeconfig: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  await waitForPath(kubeconfig, { signal, deadlineMs: progress.remainingMs() });
  using client = await kubeClient(kubeconfig);
  await approveServingRequests(client, {
    signal,
    nodeName: context.hostname(),
    host: () => viewOfThisHost(context, signal),
    report: (decision) => progress.say(...describeDecision(decision)),
    reportsAllSigners: true,
  });
}
