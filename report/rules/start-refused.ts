import { keepsKubelet } from '../../lib/engine/agents/table.ts';
import type { Rule } from '../bundle-view.ts';
import { factsOf } from '../reading/failure.ts';
import { START_COMMANDS, startCommand } from '../reading/installation.ts';
import { aboutFailure, stepFailures } from '../reading/steps.ts';

export const startRefused: Rule = {
  name: 'start-refused',
  looksFor:
    'a failed step of sno-payload, sno-certificates or sno-restore, without which the kubelet of the installed host does not start',
  todo: `Follow the message, then ${START_COMMANDS}.`,
  find(view) {
    return stepFailures(view)
      .filter(({ agent }) => keepsKubelet(agent))
      .map((failed) => {
        const { agent, step, failure } = failed;
        const { todo = 'Follow the message.', ...finding } = aboutFailure(failed);
        return {
          ...finding,
          title: `${agent} prevents the kubelet from starting, at step ${step}: ${factsOf(failure)}`,
          todo: `${todo} Then run "${startCommand(view)}".`,
        };
      });
  },
};
