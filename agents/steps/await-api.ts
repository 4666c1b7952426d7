import { waitForApi } from '../../lib/clients/kube/api-ready.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import type { ControlPlaneRights } from './host-context.ts';

/** Waits until the API server of this host is ready. @throws Failure (deadline) with what it answers */
export async function awaitApi(
  { withAdministrator }: Pick<ControlPlaneRights, 'withAdministrator'>,
  progress: Progress,
  deadlineMs: number = progress.remainingMs(),
): Promise<void> {
  await withAdministrator(progress, (client) =>
    progress.wait('the API server to be ready', (wait) =>
      waitForApi(client, {
        ...wait,
        deadlineMs,
      }),
    ),
  );
}
