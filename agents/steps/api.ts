import { startUnit } from '../../lib/host/systemd.ts';
import { waitForApi } from '../../lib/kube/api-ready.ts';
import { withBootstrapAdmin } from '../../lib/render/access.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { HostContext } from './host-context.ts';

/** Waits for the API server of this host. */
export const api: StepBody<HostContext> = {
  name: 'api',
  leaves: 'an API server that is ready',
  retries: true,
  neededUntil: 'clean',
  input: ({ cluster }) => cluster.clusterId,
  // Later steps ask the API themselves; and a clean-up that was cut has taken the way to ask it.
  holds: async () => true,
  async run({ cluster, paths }, progress) {
    // It starts by itself, unless a unit before it failed and was fixed by hand.
    await startUnit('kubelet.service', progress.signal);
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
