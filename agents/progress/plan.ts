import { identity } from '../../lib/engine/agents/table.ts';
import type { Plan } from '../../lib/engine/steps/step.ts';
import { within } from '../../lib/engine/steps/within.ts';
import type { Settings } from '../../lib/host/settings.ts';
import type { HostContext } from '../steps/host-context.ts';
import { showProgress } from './show-progress.ts';

/** Shows the state of the installation on the host's console, in plain words. */
export const progressPlan = (s: Settings): Plan<HostContext> => ({
  ...identity('progress'),
  steps: [within(s, 'liveStageMs', showProgress())],
});
