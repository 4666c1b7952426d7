import { Failure } from '../../lib/base/errors/failure.ts';
import { LEADER_LEASES } from '../../lib/cluster/steady/leases.ts';
import { scheduledShutdown } from '../../lib/cluster/steady/planned-restart.ts';
import { verdictText } from '../../lib/cluster/steady/verdict.ts';
import { waitSteady } from '../../lib/cluster/steady/wait.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done, type Outcome } from '../../lib/engine/steps/step.ts';
import { bootMoment } from '../../lib/host/boot.ts';
import { presentInput, type ReconfigureContext } from './context.ts';
import type { SiteStep } from './or-back.ts';

/** Whether everything that ran in the factory runs here: seen in this boot, for the whole window. */
export const settleSite: SiteStep = {
  name: 'settle',
  leaves: 'a steady host at its site',
  touches: ['api', 'etcd'],
  neededUntil: 'confirm',
  holds: async () => true,
  run: async (context, progress) =>
    settled(context, progress, {
      // The present name: the Node may have been renamed since this process began.
      nodeName: (await presentInput(context)).host.hostname,
      windowMs: context.settings.reconfigureWindowMs,
    }),
};

/**
 * Waits until nothing has changed for the window, until the step's deadline.
 *
 * @throws Failure (deadline) with what still moves
 */
export async function settled(
  {
    paths,
    cluster,
    request,
    bootTime,
    withAdministrator,
  }: Pick<ReconfigureContext, 'paths' | 'cluster' | 'request' | 'bootTime' | 'withAdministrator'>,
  progress: Progress,
  { nodeName, windowMs }: { readonly nodeName: string; readonly windowMs: number },
): Promise<Outcome> {
  const { boot: bootId } = await bootMoment();
  // Everything was stopped: earlier evidence comes from another site.
  const since = later(await bootTime(progress.signal), new Date(request.at));
  const verdict = await withAdministrator(progress, async (client) =>
    waitSteady(
      client,
      { nodeName, bootTime: since, leases: LEADER_LEASES[cluster.controlPlane] },
      {
        windowMs,
        bootId,
        scheduled: () => scheduledShutdown(paths),
        report: (text) => progress.waitingFor(text),
        signal: progress.signal,
        deadlineMs: progress.remainingMs(),
      },
    ),
  );
  if (verdict.state === 'steady') return done('nothing changes any more');
  throw new Failure('deadline', 'the host did not settle at its site', {
    expected: `no change for ${windowMs / 1000} s`,
    found: verdictText(verdict),
  });
}

const later = (a: Date, b: Date): Date => (a > b ? a : b);
