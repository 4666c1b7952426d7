import { identity } from '../../lib/engine/agents/table.ts';
import type { Plan } from '../../lib/engine/steps/step.ts';
import { within } from '../../lib/engine/steps/within.ts';
import type { Settings } from '../../lib/host/settings.ts';
import type { HostContext } from '../steps/host-context.ts';
import { watchRequests } from './watch-requests.ts';

/**
 * The shell script of `approve-csr.service` approved every request. The live stage has no Node,
 * so no request is approved; any that appears is reported.
 */
export const approveCsrPlan = (s: Settings): Plan<HostContext> => ({
  ...identity('approve-csr'),
  steps: [within(s, 'waitForBootkubeMs', watchRequests)],
});
