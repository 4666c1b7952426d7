import { identity } from '../../lib/agents/table.ts';
import type { Settings } from '../../lib/host/settings.ts';
import type { Plan } from '../../lib/steps/step.ts';
import { within } from '../../lib/steps/within.ts';
import type { HostContext } from '../steps/host-context.ts';
import { watchRequests } from './watch-requests.ts';

/**
 * The shell's `approve-csr.service` approved every request that it saw. In the live
 * stage there is no node, so there is none to approve: what turns up is reported.
 */
export const approveCsrPlan = (s: Settings): Plan<HostContext> => ({
  ...identity('approve-csr'),
  steps: [within(s, 'waitForBootkubeMs', watchRequests)],
});
