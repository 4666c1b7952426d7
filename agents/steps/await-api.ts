import { type ApiChecks, waitForApi } from '../../lib/clients/kube/api-ready.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { staticPodsNeed, withCauses } from './causes.ts';
import type { ControlPlaneRights } from './host-context.ts';

/** What must run before the API server is ready. On OpenShift its pods have further containers, which need this one. */
const NEEDED = staticPodsNeed('etcd', 'kube-apiserver');

interface ApiHost extends Pick<ControlPlaneRights, 'withAdministrator'> {
  readonly paths: HostPaths;
}

/**
 * Waits until the API server of this host is ready.
 * @throws Failure (deadline) with what it answers, (fatal) if what it needs ends again and again
 */
export async function awaitApi(
  host: ApiHost,
  progress: Progress,
  deadlineMs: number = progress.remainingMs(),
  checks: ApiChecks = '/readyz',
): Promise<void> {
  await host.withAdministrator(progress, (client) =>
    progress.wait('the API server to be ready', ({ report }) =>
      withCauses(host, NEEDED, progress, ({ signal }) =>
        waitForApi(client, { signal, deadlineMs, report }, checks),
      ),
    ),
  );
}
