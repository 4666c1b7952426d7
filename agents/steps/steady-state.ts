import { join } from 'node:path';
import { parseJson } from '../../lib/base/json.ts';
import { waitForSteadyState } from '../../lib/clients/kube/wait-for-steady-state.ts';
import { type RecordedRestarts, restartsSchema } from '../../lib/cluster/installation/record.ts';
import type {
  EndingAgent,
  IDENTITY_AGENT,
  RESTORING_AGENT,
} from '../../lib/engine/agents/table.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists, readTextIfReadable, writeFileAtomic } from '../../lib/host/files.ts';
import { awaitApi } from './await-api.ts';
import { forgetEndedLeaders } from './ended-leaders.ts';
import type { HostContext } from './host-context.ts';

type Waiting = EndingAgent | typeof RESTORING_AGENT | typeof IDENTITY_AGENT;

/** In the folder of the agent that waited. */
export const restartsPath = ({ paths }: Pick<HostContext, 'paths'>, agent: Waiting) =>
  join(paths.state, agent, 'restarts.json');

/**
 * Waits until nothing in the control plane has changed for a while. Only evidence from this
 * boot counts: the database is restored from a snapshot and shows the past.
 */
export const steadyState = (agent: Waiting): StepBody<HostContext> => ({
  name: 'steady-state',
  leaves: 'a control plane without changes during the settling window; the number of its restarts',
  touches: ['disk', 'api', 'runtime'],
  retries: true,
  neededUntil: 'clean',
  input: ({ settings }) => settings.settlingWindowMs,
  holds: (context) => exists(restartsPath(context, agent)),
  async run(context, progress) {
    const { settings } = context;
    const nodeName = context.hostname();
    const bootTime = await context.bootTime(progress.signal);
    await awaitApi(context, progress);
    // After a power cut, of the boot before.
    await forgetEndedLeaders(context, progress);
    const restarts = await progress.wait('the control plane to settle', () =>
      context.withAdministrator(progress, (client) =>
        waitForSteadyState(
          client,
          {
            nodeName,
            bootTime,
            components: ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'],
            leases: ['kube-controller-manager', 'kube-scheduler'],
            settlingWindowMs: settings.settlingWindowMs,
          },
          {
            signal: progress.signal,
            deadlineMs: progress.remainingMs(),
            report: (observed) => progress.waitingFor(`the control plane to settle: ${observed}`),
          },
        ),
      ),
    );
    await writeFileAtomic(restartsPath(context, agent), `${JSON.stringify(restarts)}\n`, 0o644);
    return done(
      restarts.map(({ container, count }) => `${container} restarted ${count} times`).join(', '),
    );
  },
});

/** The restart count of each control plane container, as recorded by the steady state. */
export async function readRestarts(
  context: Pick<HostContext, 'paths'>,
  agent: EndingAgent,
): Promise<RecordedRestarts> {
  const text = await readTextIfReadable(restartsPath(context, agent));
  // Only told: an installation does not fail on it.
  return restartsSchema.safeParse(parseJson(text)).data ?? [];
}
