import type { RunningCluster } from '../checks/check.ts';
import { kubectl } from '../checks/kubectl.ts';
import { eventually } from '../eventually.ts';

/** After a boot, the Deployment's pod is made again when the controller-manager has its Lease. */
const LOGS_MS = 3 * 60_000;

/**
 * The kubelet proves itself to the API server with its serving certificate. A first request can
 * still use the connection to a kubelet that was restarted. `of`: whose logs; the lab's own Deployment is there once the check of
 * workloads has run.
 */
export async function requireLogs(
  cluster: RunningCluster,
  signal: AbortSignal,
  of: readonly string[] = ['deployment/hello'],
): Promise<void> {
  const logs = ['logs', ...of, '--tail=1'];
  await eventually(() => kubectl(cluster, logs, signal), LOGS_MS, signal);
}
