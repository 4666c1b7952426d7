import type { ChangeStep } from '../../../lib/change/or-back.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import { armTrial } from '../../../lib/engine/trial/arm.ts';
import { networkManagerPoints } from '../../../lib/engine/trial/points.ts';
import { readTrial } from '../../../lib/engine/trial/store.ts';
import { describeUpdate, type UpdatedHost } from './context.ts';
import { movedPayload } from './places.ts';
import { loadPrepared } from './prepare.ts';
import { isInUse } from './stage.ts';

/** From here on the host goes back to what it has now, unless the update is confirmed. */
export const armUpdate: ChangeStep<UpdatedHost> = {
  name: 'arm',
  leaves: 'the points of return, and a trial with a deadline',
  touches: ['disk', 'systemd'],
  neededUntil: 'confirm',
  holds: async ({ paths, request }) => (await readTrial(paths))?.id === request.id,
  async run(context, { signal }) {
    const { paths, settings, request } = context;
    const { files, links } = await loadPrepared(context);
    const isSame = await isInUse(context, signal);
    const trial = await armTrial(
      paths,
      {
        id: request.id,
        what: describeUpdate(request),
        deadlineMs: settings.updateTrialMs,
        bootsCount: settings.updateBootsCount,
        points: {
          network: networkManagerPoints,
          // Units that are new to the host are among the files.
          files: [...files, ...links].map(({ path }) => path),
          moved: isSame ? [] : [movedPayload],
          database: await context.backupToReturnTo(),
        },
      },
      signal,
    );
    return done(`${trial.points.files.length} files are kept`);
  },
};
