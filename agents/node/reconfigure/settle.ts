import { Failure } from '../../../lib/errors/failure.ts';
import { bootMoment } from '../../../lib/host/boot.ts';
import { scheduledShutdown } from '../../../lib/steady/planned-restart.ts';
import { verdictText } from '../../../lib/steady/verdict.ts';
import { waitSteady } from '../../../lib/steady/wait.ts';
import { done } from '../../../lib/steps/step.ts';
import type { StepBody } from '../../../lib/steps/within.ts';
import { presentInput, type ReconfigureContext } from './context.ts';

const LEASES = ['kube-controller-manager', 'kube-scheduler'];

/** Whether everything that ran in the factory runs here: seen in this boot, for the whole window. */
export const settle: StepBody<ReconfigureContext> = {
  name: 'settle',
  leaves: 'a steady host at its site',
  touches: ['api', 'etcd'],
  neededUntil: 'confirm',
  input: ({ request }) => request.id,
  holds: async () => true,
  async run(context, progress) {
    const { paths, settings } = context;
    const { boot: bootId } = await bootMoment();
    const verdict = await context.withAdministrator(progress, async (client) =>
      waitSteady(
        client,
        {
          // That of now: the Node may have been renamed since this process began.
          nodeName: (await presentInput(context)).host.hostname,
          // Everything was stopped: evidence of before is of another place.
          bootTime: later(await context.bootTime(progress.signal), new Date(context.request.at)),
          leases: LEASES,
        },
        {
          windowMs: settings.reconfigureWindowMs,
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
      expected: `no change for ${settings.reconfigureWindowMs / 1000} s`,
      found: verdictText(verdict),
    });
  },
};

const later = (a: Date, b: Date): Date => (a > b ? a : b);
