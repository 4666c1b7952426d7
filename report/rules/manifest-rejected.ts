import type { Rule } from '../bundle-view.ts';
import { allWithCode, factsOf, withCode } from '../reading/failure.ts';
import { stepFailures } from '../reading/steps.ts';

/** bootkube applies every manifest, and fails permanently if one is not accepted (agents/steps/manifests.ts). */
export const manifestRejected: Rule = {
  name: 'manifest-rejected',
  looksFor:
    "manifests that the API server rejected or that could not be decoded, from bootkube's step manifests",
  codes: ['manifests-rejected', 'manifest-rejected'],
  todo: 'Correct the manifest, recreate the Ignition config ("sno create single-node-ignition-config") and boot the live medium again.',
  find(view) {
    return stepFailures(view)
      .filter(({ failure }) => withCode(failure, 'manifests-rejected') !== undefined)
      .map(({ failure, sinceMs, evidence }) => {
        const rejected = allWithCode(failure, 'manifest-rejected');
        const files = rejected.flatMap(({ subject }) => subject ?? []);
        const which = files.length === 0 ? 'what the evidence names' : files.join(' and ');
        return {
          rule: this.name,
          severity: 'failing',
          title: factsOf(failure),
          sinceMs,
          failure,
          evidence: [evidence],
          todo: `Correct ${which}, recreate the Ignition config and boot the live medium again.`,
        };
      });
  },
};
