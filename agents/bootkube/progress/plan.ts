import type { Settings } from '../../../lib/host/settings.ts';
import type { Plan } from '../../../lib/steps/step.ts';
import { within } from '../../../lib/steps/within.ts';
import type { LiveContext } from '../context.ts';
import { showProgress } from './show-progress.ts';

/** The one who stands before the host sees where the installation is, in plain words. */
export const progressPlan = (s: Settings): Plan<LiveContext> => ({
  agent: 'progress',
  unit: 'progress',
  purpose: 'shows the progress of the installation on the console',
  steps: [within(s, 'liveStageMs', showProgress)],
});
