import type { Rule } from '../bundle-view.ts';
import { splitReason } from '../reading/reason.ts';
import { stepFailures } from '../reading/steps.ts';

const REJECTED = /(?:found|;) (\S+): (.+?)(?=; \/|$)/g;

/** bootkube applies every manifest, and ends for good if one is not accepted (agents/steps/manifests.ts). */
export const manifestRejected: Rule = {
  name: 'manifest-rejected',
  looksFor:
    "manifests that the API server refused or that could not be decoded, by bootkube's step manifests",
  todo: 'Correct the manifest, make the Ignition again ("sno create single-node-ignition-config") and boot the live medium again.',
  find(view) {
    return stepFailures(view)
      .filter(({ step, reason }) => step === 'manifests' && /manifests? could not be/.test(reason))
      .map(({ reason, sinceMs, evidence }) => {
        const { facts } = splitReason(reason);
        const files = Array.from(facts.matchAll(REJECTED), ([, file = '']) => file);
        const which = files.length === 0 ? 'what the evidence names' : files.join(' and ');
        return {
          rule: this.name,
          severity: 'failing',
          title: facts,
          sinceMs,
          evidence: [evidence],
          todo: `Correct ${which}, make the Ignition again and boot the live medium again.`,
        };
      });
  },
};
