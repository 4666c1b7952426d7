import { keepsKubelet } from '../../lib/agents/table.ts';
import type { Rule } from '../bundle-view.ts';
import { factsOf, fixOf } from '../reading/failure.ts';
import { stepFailures } from '../reading/steps.ts';

export const startRefused: Rule = {
  name: 'start-refused',
  looksFor:
    'a failed step of sno-payload, sno-certificates or sno-restore, without which the kubelet of the installed host does not start',
  todo: 'Follow the message, then run "systemctl start kubelet bootkube".',
  find(view) {
    return stepFailures(view)
      .filter(({ agent }) => keepsKubelet(agent))
      .map(({ agent, step, failure, sinceMs, evidence, isFinal }) => {
        const [facts, todo] = [factsOf(failure), fixOf(failure)];
        return {
          rule: this.name,
          severity: isFinal ? ('failing' as const) : ('warning' as const),
          title: `${agent} prevents the kubelet from starting, at step ${step}: ${facts}`,
          sinceMs,
          failure,
          evidence: [evidence],
          todo: `${todo ?? 'Follow the message.'} Then run "systemctl start kubelet bootkube".`,
        };
      });
  },
};
