import { identity } from '../../lib/agents/table.ts';
import type { Settings } from '../../lib/host/settings.ts';
import type { Plan } from '../../lib/steps/step.ts';
import { within } from '../../lib/steps/within.ts';
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
