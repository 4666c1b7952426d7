import type { Rule } from '../bundle-view.ts';
import { whereSaid } from '../reading/evidence.ts';
import { hostFiles } from '../reading/hosts.ts';
import { splitReason } from '../reading/reason.ts';
import { stepFailures } from '../reading/steps.ts';

/** agents/post-reboot/clean.ts, agents/post-reboot/verify-clean.ts */
export const bootstrapLeftOver: Rule = {
  name: 'bootstrap-left-over',
  looksFor:
    'files or private keys of the bootstrap that the clean-up could not remove, or that are still listed after a finished installation',
  todo: 'Remove what the message names, and start bootkube.service again: it proves that nothing is left.',
  find(view) {
    const refused = stepFailures(view)
      .filter(({ step }) => step === 'clean' || step === 'verify-clean')
      .map(({ reason, sinceMs, evidence, isFinal }) => {
        const { facts, todo } = splitReason(reason);
        return {
          rule: this.name,
          severity: isFinal ? ('failing' as const) : ('warning' as const),
          title: `The clean-up does not end: ${facts}`,
          sinceMs,
          evidence: [evidence],
          todo: todo ?? this.todo,
        };
      });
    const [record] = hostFiles(view, 'agents/record.json');
    const [ledger] = hostFiles(view, 'agents/leftovers.json');
    if (refused.length > 0 || record === undefined || ledger === undefined) return refused;
    return [
      {
        rule: this.name,
        severity: 'warning',
        title:
          'The installation is recorded as finished, but its list of leftovers is still on the host',
        evidence: [...whereSaid(view, ledger, 'path'), ...whereSaid(view, record, 'completed')],
        todo: this.todo,
      },
    ];
  },
};
