import { done, type Outcome } from '../../lib/engine/steps/step.ts';
import { armTrial } from '../../lib/engine/trial/arm.ts';
import { networkManagerPoints, type WantedPoints } from '../../lib/engine/trial/points.ts';
import { readTrial } from '../../lib/engine/trial/store.ts';
import { describeReconfigure, type ReconfigureContext } from './context.ts';
import type { SiteStep } from './or-back.ts';
import { MOVED, touchedFiles } from './touched.ts';

/** How long a change may stay unconfirmed, and what of the host it may change. */
export interface TrialOfSite {
  readonly deadlineMs: number;
  readonly points: WantedPoints;
}

/** From here on the host goes back to what it has now, unless everything works in time. */
export const armWith = (
  trialOf: (context: ReconfigureContext) => Promise<TrialOfSite>,
): SiteStep => ({
  name: 'arm',
  leaves: 'the points of return, and a trial with a deadline',
  touches: ['disk', 'systemd'],
  neededUntil: 'confirm',
  holds: async ({ paths, request }) => (await readTrial(paths))?.id === request.id,
  async run(context, { signal }): Promise<Outcome> {
    const { paths, settings, request } = context;
    const trial = await armTrial(
      paths,
      {
        ...(await trialOf(context)),
        id: request.id,
        what: describeReconfigure(request),
        bootsCount: settings.reconfigureBootsCount,
      },
      signal,
    );
    return done(`${trial.points.files.length} files are kept`);
  },
});

export const armSite = armWith(async (context) => ({
  deadlineMs: context.settings.reconfigureTrialMs,
  points: {
    network: networkManagerPoints,
    files: await touchedFiles(context),
    moved: [...MOVED],
  },
}));
