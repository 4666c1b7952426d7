import { armWith } from '../arm.ts';
import { openShiftPoints } from './touched.ts';

/**
 * The step of the Kubernetes payload, which also keeps what operators write. The trial is longer than there: operators
 * settle only after several rollouts, and perhaps a restart of the host.
 */
export const armOpenShiftSite = armWith(async (context) => ({
  deadlineMs: context.settings.reconfigureOperatorsTrialMs,
  points: await openShiftPoints(context),
}));
