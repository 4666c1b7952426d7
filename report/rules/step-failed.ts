import { keepsKubelet, unitOf } from '../../lib/agents/table.ts';
import type { Rule } from '../bundle-view.ts';
import { splitReason } from '../reading/reason.ts';
import { stepFailures } from '../reading/steps.ts';

/** An agent that only says that the one it waits for has failed (agents/install-to-disk/wait-for-bootkube.ts). */
const ECHO = /^bootkube failed for good/;

export const stepFailed: Rule = {
  name: 'step-failed',
  looksFor:
    "an agent that ended with a failed step, or that tries a failed one again: the last word of each agent's step journal",
  todo: 'Do what the message says, then start the unit again: steps that are done are passed over.',
  find(view) {
    return stepFailures(view)
      .filter(({ agent, reason }) => !keepsKubelet(agent) && !ECHO.test(reason))
      .map(({ agent, step, reason, sinceMs, evidence, isFinal }) => {
        const { facts, todo } = splitReason(reason);
        const unit = unitOf(agent);
        return {
          rule: this.name,
          severity: isFinal ? ('failing' as const) : ('warning' as const),
          title: `${agent} ${isFinal ? 'failed at' : 'tries again'} its step ${step}: ${facts}`,
          sinceMs,
          evidence: [evidence],
          todo: isFinal
            ? `${todo ?? `See "journalctl -u ${unit}".`} When it is mended, run "systemctl start ${unit}".`
            : `${todo ?? 'Wait, or mend what it says.'} The agent tries it again by itself.`,
        };
      });
  },
};
