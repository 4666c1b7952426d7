import type { Rule } from '../bundle-view.ts';
import { whereSaid } from '../reading/evidence.ts';
import { factsOf } from '../reading/failure.ts';
import { hostFiles } from '../reading/hosts.ts';
import { aboutFailure, stepFailuresWith } from '../reading/steps.ts';

/** agents/steps/clean.ts, agents/steps/verify-clean.ts */
export const bootstrapLeftOver: Rule = {
  name: 'bootstrap-left-over',
  looksFor:
    'files or private keys of the bootstrap that the clean-up could not delete, or that are still listed after a finished installation',
  codes: ['leftover-remains'],
  todo: 'Delete what the message names, then start bootkube.service again, on an all-in-one host aiokube.service: it verifies that nothing is left.',
  find(view) {
    const refused = stepFailuresWith(view, 'leftover-remains').map((failed) => ({
      ...aboutFailure(failed),
      title: `The clean-up cannot complete: ${factsOf(failed.failure)}`,
    }));
    const [record] = hostFiles(view, 'agents/record.json');
    const [ledger] = hostFiles(view, 'agents/leftovers.json');
    if (refused.length > 0 || record === undefined || ledger === undefined) return refused;
    return [
      {
        severity: 'warning',
        title:
          'The installation is recorded as finished, but its list of leftovers is still on the host',
        evidence: [...whereSaid(view, ledger, 'path'), ...whereSaid(view, record, 'completed')],
      },
    ];
  },
};
