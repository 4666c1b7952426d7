import { setTimeout as sleep } from 'node:timers/promises';
import { isApiReady } from '../../lib/clients/kube/api-ready.ts';
import { publishBootstrapComplete } from '../../lib/clients/kube/bootstrap-complete.ts';
import { done, notYet } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import type { HostContext } from './host-context.ts';
import { REQUEST_DEADLINE_MS } from './request-deadline.ts';

const PROBES = 5;

/**
 * Publishes what `wait-for bootstrap-complete` watches, once the node is Ready and the API has
 * answered without error for a while: a client that sees it continues immediately, and must not
 * meet a restarting API.
 */
export const bootstrapComplete: StepBody<HostContext> = {
  name: 'bootstrap-complete',
  leaves: 'the ConfigMap kube-system/bootstrap with status complete',
  touches: ['api'],
  retries: true,
  neededUntil: 'clean',
  input: ({ cluster }) => cluster.clusterId,
  holds: async () => true,
  async run(context, progress) {
    const { settings } = context;
    return context.withAdministrator(progress, async (client) => {
      const stable = await progress.wait('the API to be stable', async () => {
        for (let probe = 0; probe < PROBES; probe++) {
          if (!(await isApiReady(client, progress.signal))) return false;
          await sleep(settings.apiStableMs / PROBES, undefined, { signal: progress.signal });
        }
        return isApiReady(client, progress.signal);
      });
      if (!stable) return notYet('the API was not ready throughout');
      await publishBootstrapComplete(client, {
        signal: progress.signal,
        deadlineMs: REQUEST_DEADLINE_MS,
      });
      return done();
    });
  },
};
