import { armWith } from '../arm.ts';
import { openShiftPoints } from './touched.ts';

/**
 * The same, with what operators write as well. The trial is longer than on the Kubernetes payload: its operators settle only after
 * several rollouts, and perhaps a restart of the host.
 */
export const arm = armWith(async (context) => ({
  deadlineMs: context.settings.reconfigureOperatorsTrialMs,
  points: await openShiftPoints(context),
}));
