import { describeError } from '../../lib/base/errors/failure.ts';
import { productVersion } from '../../lib/base/version.ts';
import { readLostHost } from '../../lib/change/identity/lost-host.ts';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import {
  type InstallationStatus,
  publishInstallationStatus,
  statusIdentity,
} from '../../lib/clients/kube/installation-status.ts';
import type { Access } from '../../lib/clients/kube/kubeconfig.ts';
import type { Cluster } from '../../lib/config/cluster/cluster.ts';
import { done, type PlanEvent } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { accessFor } from '../../lib/render/openshift/installed-access.ts';
import { signedAccess } from '../../lib/render/signed-access.ts';
import type { HostContext } from './host-context.ts';

const REQUEST_DEADLINE_MS = 5000;

/**
 * Records in the cluster that the installation is complete, which `sno wait-for install-complete`
 * watches: after the clean-up is verified and recorded, so that only this agent's own removal
 * follows. The bootstrap's administrator is deleted by then; the certificate is signed in memory.
 */
export const complete: StepBody<HostContext> = {
  name: 'complete',
  leaves: 'the ConfigMap kube-system/sno-installation with state complete',
  touches: ['api', 'clock'],
  retries: true,
  input: ({ cluster }) => cluster.clusterId,
  holds: async () => true,
  async run(context, { signal }) {
    // Another database is about to take the place of this one, with the record of the lost host.
    if ((await readLostHost(context.paths)) !== undefined) return done('not yet: see sno-identity');
    await publish(context, { state: 'complete', step: 'complete' }, signal);
    return done();
  },
};

/**
 * Records the running or failed step in the same ConfigMap. Nothing depends on it: if the API server
 * does not answer yet, the step does not fail.
 */
export async function announce(
  context: HostContext,
  { step, failure }: PlanEvent,
  signal: AbortSignal,
): Promise<void> {
  const event =
    failure === undefined
      ? { state: 'installing' as const, step }
      : { state: 'failed' as const, step, message: describeError(failure) };
  await publish(context, event, signal).catch(() => undefined);
}

async function publish(
  { cluster, paths }: HostContext,
  event: Pick<InstallationStatus, 'state' | 'step' | 'message'>,
  signal: AbortSignal,
): Promise<void> {
  using client = new KubeClient(await statusAccess(cluster.controlPlane, paths));
  const time = new Date().toISOString();
  const status = { version: productVersion, ...event, time, clusterId: cluster.clusterId };
  await publishInstallationStatus(client, status, { signal, deadlineMs: REQUEST_DEADLINE_MS });
}

/** OpenShift leaves no authority on the host: its administrator acts for the user with these rights. */
const statusAccess = (kind: Cluster['controlPlane'], paths: HostPaths): Promise<Access> =>
  kind === 'openshift'
    ? accessFor(paths, statusIdentity, [statusIdentity])
    : signedAccess(kind, paths, statusIdentity);
