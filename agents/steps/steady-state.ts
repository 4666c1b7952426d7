import { join } from 'node:path';
import { exists, readTextIfPresent, writeFileAtomic } from '../../lib/host/files.ts';
import { type Restarts, restartsSchema } from '../../lib/installation/record.ts';
import { waitForSteadyState } from '../../lib/kube/wait-for-steady-state.ts';
import { withBootstrapAdmin } from '../../lib/render/access.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { HostContext } from './host-context.ts';

const restartsPath = ({ paths }: HostContext) => join(paths.state, 'post-reboot/restarts.json');

/**
 * Waits until nothing in the control plane has changed for a while. Only evidence from this
 * boot counts: the database is restored from a snapshot and shows the past.
 */
export const steadyState: StepBody<HostContext> = {
  name: 'steady-state',
  leaves: 'a control plane without changes during the settling window; the number of its restarts',
  retries: true,
  neededUntil: 'clean',
  input: ({ settings }) => settings.settlingWindowMs,
  holds: (context) => exists(restartsPath(context)),
  async run(context, progress) {
    const { cluster, paths, settings } = context;
    const nodeName = context.hostname();
    const bootTime = await context.bootTime(progress.signal);
    const restarts = await progress.wait('the control plane to settle', () =>
      withBootstrapAdmin(cluster.controlPlane, paths, (client) =>
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
    await writeFileAtomic(restartsPath(context), `${JSON.stringify(restarts)}\n`, 0o644);
    return done(
      restarts.map(({ container, count }) => `${container} restarted ${count} times`).join(', '),
    );
  },
};

/** The restart count of each control plane container, as recorded by the steady state. */
export async function readRestarts(context: HostContext): Promise<Restarts> {
  return restartsSchema.parse(JSON.parse((await readTextIfPresent(restartsPath(context))) ?? '[]'));
}
