import type { Rule } from '../bundle-view.ts';
import { allWithCode, factsOf } from '../reading/failure.ts';
import { aboutFailure, stepFailuresWith } from '../reading/steps.ts';

/** bootkube applies every manifest and fails permanently if one is rejected (agents/steps/manifests.ts). */
export const manifestRejected: Rule = {
  name: 'manifest-rejected',
  looksFor:
    "manifests that the API server rejected or that could not be decoded, from bootkube's step manifests",
  codes: ['manifests-rejected', 'manifest-rejected'],
  todo: 'Correct the manifest, recreate the Ignition config ("sno create single-node-ignition-config") and boot the live medium again.',
  find(view) {
    return stepFailuresWith(view, 'manifests-rejected').map((failed) => {
      const rejected = allWithCode(failed.failure, 'manifest-rejected');
      const files = rejected.flatMap(({ subject }) => subject ?? []);
      const which = files.length === 0 ? 'what the evidence names' : files.join(' and ');
      return {
        ...aboutFailure(failed),
        severity: 'failing',
        title: factsOf(failed.failure),
        todo: `Correct ${which}, recreate the Ignition config and boot the live medium again.`,
      };
    });
  },
};
