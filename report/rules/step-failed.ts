import { keepsKubelet, unitOf } from '../../lib/engine/agents/table.ts';
import type { Rule } from '../bundle-view.ts';
import { factsOf, withCode } from '../reading/failure.ts';
import { aboutFailure, stepFailures } from '../reading/steps.ts';

export const stepFailed: Rule = {
  name: 'step-failed',
  looksFor:
    "an agent that ended with a failed step, or that is retrying one: the last entry of each agent's step journal",
  codes: ['bootkube-failed'],
  todo: 'Follow the message, then start the unit again: steps that are done are skipped.',
  find(view) {
    return stepFailures(view)
      .filter(
        ({ agent, failure }) =>
          // install-to-disk only repeats the failure of bootkube, which it waits for.
          !keepsKubelet(agent) && withCode(failure, 'bootkube-failed') === undefined,
      )
      .map((failed) => {
        const { agent, step, failure, isFinal } = failed;
        const { todo, ...finding } = aboutFailure(failed);
        const unit = unitOf(agent);
        return {
          ...finding,
          title: `${agent} ${isFinal ? 'failed at' : 'is retrying'} step ${step}: ${factsOf(failure)}`,
          todo: isFinal
            ? `${todo ?? `See "journalctl -u ${unit}".`} Once it is fixed, run "systemctl start ${unit}".`
            : `${todo ?? 'Wait, or fix the reported error.'} The agent retries automatically.`,
        };
      });
  },
};
