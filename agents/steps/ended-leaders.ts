import type { Container } from '../../lib/clients/cri/messages.ts';
import { connectHostRuntime } from '../../lib/clients/cri/runtime.ts';
import { deleteLeases } from '../../lib/clients/kube/leases.ts';
import { type Lease, resources } from '../../lib/clients/kube/resources.ts';
import { LEADER_LEASES } from '../../lib/cluster/steady/leases.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import type { HostContext } from './host-context.ts';
import { REQUEST_DEADLINE_MS } from './request-deadline.ts';

const NAMESPACE = 'kube-system';

/**
 * Deletes the Leases of leaders whose container has ended. They do not release them (kube-controller-manager: no
 * ReleaseOnCancel), and their successors would wait until they expire, 60 s (lib/render/kubernetes/leader-election.ts).
 * So it is after a power cut, and where the API server starts slowly: the controller-manager has its Lease while the server
 * still makes its roles, gives up after ten seconds without /healthz, and starts again.
 *
 * Where a clock that was set makes a living leader look ended, nothing is lost: it has no rival on a host of its own, and
 * client-go creates a Lease again that is gone at its renewal.
 */
export async function forgetEndedLeaders(
  { paths, cluster, withAdministrator }: HostContext,
  progress: Progress,
): Promise<void> {
  const limits = { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS };
  using runtime = connectHostRuntime(paths);
  await withAdministrator(progress, async (client) => {
    const { items } = await client.list(resources.leases, { namespace: NAMESPACE }, limits);
    // Later than the Leases: whoever holds one by then is among them, unless it has ended.
    const containers = await runtime.listContainers(limits);
    const names = LEADER_LEASES[cluster.controlPlane].filter((name) =>
      items.some((lease) => lease.metadata.name === name && isHeldByEnded(lease, containers)),
    );
    const leases = names.map((name) => ({ namespace: NAMESPACE, name }));
    await deleteLeases(client, leases, limits);
    for (const name of names) progress.say(`Deleted the Lease of ${name}: its holder has ended`);
  });
}

/** Whether no container that runs is as old as the Lease of its name. */
function isHeldByEnded({ metadata, spec }: Lease, containers: readonly Container[]): boolean {
  if (!spec?.holderIdentity) return false;
  const acquiredAtMs = Date.parse(String(spec.acquireTime));
  return !containers.some(
    ({ name, state, createdAtMs }) =>
      name === metadata.name && state === 'running' && createdAtMs <= acquiredAtMs,
  );
}
