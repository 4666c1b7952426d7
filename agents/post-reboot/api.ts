import { isApiReady, waitForApi } from '../../lib/kube/api-ready.ts';
import { withBootstrapAdmin } from '../../lib/render/access.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { InstalledContext } from './context.ts';

/** Waits for the API server of this host. */
export const api: StepBody<InstalledContext> = {
  name: 'api',
  leaves: 'an API server that is ready',
  retries: true,
  neededUntil: 'clean',
  input: ({ cluster }) => cluster.clusterId,
  holds: ({ cluster, paths }, { signal }) =>
    withBootstrapAdmin(cluster.controlPlane, paths, (client) => isApiReady(client, signal)),
  async run({ cluster, paths }, progress) {
    await withBootstrapAdmin(cluster.controlPlane, paths, (client) =>
      progress.wait('the API server to be ready', () =>
        waitForApi(client, {
          signal: progress.signal,
          deadlineMs: progress.remainingMs(),
          report: (state) => progress.waitingFor(`the API server to be ready: ${state}`),
        }),
      ),
    );
    return done();
  },
};
