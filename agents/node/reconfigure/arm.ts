import { done } from '../../../lib/steps/step.ts';
import type { StepBody } from '../../../lib/steps/within.ts';
import { armTrial } from '../../../lib/trial/arm.ts';
import { networkManagerPoints } from '../../../lib/trial/points.ts';
import { readTrial } from '../../../lib/trial/store.ts';
import { describeReconfigure, type ReconfigureContext } from './context.ts';
import { MOVED, touchedFiles } from './touched.ts';

/** From here on the host goes back to what it has now, unless everything works in time. */
export const arm: StepBody<ReconfigureContext> = {
  name: 'arm',
  leaves: 'the points of return, and a trial with a deadline',
  touches: ['disk', 'systemd'],
  neededUntil: 'confirm',
  input: ({ request }) => request.id,
  holds: async ({ paths, request }) => (await readTrial(paths))?.id === request.id,
  async run(context, { signal }) {
    const { paths, settings, request } = context;
    const trial = await armTrial(
      paths,
      {
        id: request.id,
        what: describeReconfigure(request),
        deadlineMs: settings.reconfigureTrialMs,
        bootsCount: settings.reconfigureBootsCount,
        points: {
          network: networkManagerPoints,
          files: await touchedFiles(context),
          moved: [...MOVED],
        },
      },
      signal,
    );
    return done(`${trial.points.files.length} files are kept`);
  },
};
