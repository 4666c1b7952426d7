import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { startUnit } from '../../lib/host/systemd.ts';
import { awaitApi } from './await-api.ts';
import { forgetEndedLeaders } from './ended-leaders.ts';
import type { HostContext } from './host-context.ts';

/** Waits for this host's API server, and lets its controllers start at once. */
export const api: StepBody<HostContext> = {
  name: 'api',
  leaves: 'an API server that is ready, and no Lease of a leader that has ended',
  touches: ['api', 'systemd', 'runtime'],
  retries: true,
  neededUntil: 'clean',
  input: ({ cluster }) => cluster.clusterId,
  // Later steps use the API themselves, and an interrupted clean-up has deleted the credentials for this check.
  holds: async () => true,
  async run(context, progress) {
    // It starts by itself, unless a unit that it requires failed and was fixed manually.
    await startUnit('kubelet.service', progress.signal);
    await awaitApi(context, progress);
    await forgetEndedLeaders(context, progress);
    return done();
  },
};
