import { DEFERRED_AGENT } from '../../lib/engine/agents/table.ts';
import type { Rule } from '../bundle-view.ts';
import { agentStatuses } from '../reading/steps.ts';
import { duration, time } from '../reading/words.ts';

/** Beyond this share of its deadline, a wait is usually stuck. */
const LONG_SHARE = 0.5;
/** May wait for the administrator for days; it has its own rule (deferred-waiting). */
const PATIENT: string = DEFERRED_AGENT;

export const stepWaiting: Rule = {
  name: 'step-waiting',
  looksFor: 'what each running agent waits for, since when and until when, from its status',
  todo: 'Nothing yet, if it has just begun. Otherwise check what it waits for. At its deadline it fails with the last observed state.',
  find(view) {
    return agentStatuses(view)
      .filter(({ agent, state }) => state === 'running' && agent !== PATIENT)
      .map(({ agent, step, number, of, sinceMs, untilMs, waitingFor, evidence }) => {
        const passed = sinceMs === undefined ? 0 : view.atMs - sinceMs;
        const allowed = (untilMs ?? Infinity) - (sinceMs ?? 0);
        const since = sinceMs === undefined ? '' : ` for ${duration(passed)}`;
        const until = untilMs === undefined ? '' : `, at most until ${time(untilMs)}`;
        const what = waitingFor === undefined ? 'works' : `waits for ${waitingFor}`;
        return {
          severity: passed > LONG_SHARE * allowed ? 'warning' : 'note',
          title: `${agent} is at step ${number} of ${of}, ${step}, and ${what}${since}${until}`,
          sinceMs,
          evidence,
        };
      });
  },
};
