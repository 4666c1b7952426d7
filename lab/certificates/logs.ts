import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningCluster } from '../checks/check.ts';
import { kubectl } from '../checks/kubectl.ts';

/** After a boot, the Deployment's pod is made again when the controller-manager has its Lease. */
const LOGS_MS = 3 * 60_000;

/**
 * The kubelet proves itself to the API server with its serving certificate. A first request can
 * still use the connection to a kubelet that was restarted.
 */
export async function requireLogs(cluster: RunningCluster, signal: AbortSignal): Promise<void> {
  const deadline = AbortSignal.timeout(LOGS_MS);
  for (;;) {
    try {
      await kubectl(cluster, ['logs', 'deployment/hello', '--tail=1'], signal);
      return;
    } catch (error) {
      if (deadline.aborted) throw error;
      await sleep(1_000, undefined, { signal });
    }
  }
}
