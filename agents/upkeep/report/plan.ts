import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { ReportContext } from './context.ts';
import { report } from './report.ts';

/** When an agent's status has changed, and from time to time. */
export const reportPlan = (s: Settings): Plan<ReportContext> => ({
  ...identity('sno-report'),
  achieved: 'the report is sent, or kept for the next time',
  steps: [within(s, 'reportMs', report)],
});
