import type { Rule } from '../bundle-view.ts';
import { splitReason } from '../reading/reason.ts';
import { stepFailures } from '../reading/steps.ts';

/** lib/installation/disk-refusal.ts, lib/installation/inspect.ts, agents/steps/boot-installed.ts */
export const diskRefused: Rule = {
  name: 'disk-refused',
  looksFor:
    'a disk that the installation must not write: in use, no whole disk, another system on it, or this cluster installed on it already',
  todo: 'Do what the message says: free the disk, or name another one in bootstrapInPlace.installationDisk; remove the live medium if the installation on it is finished.',
  find(view) {
    return stepFailures(view)
      .filter(({ step, isFinal }) => step === 'inspect-disk' && isFinal)
      .map(({ reason, sinceMs, evidence }) => {
        const { facts, todo } = splitReason(reason);
        return {
          rule: this.name,
          severity: 'failing',
          title: `The disk is not written: ${facts}`,
          sinceMs,
          evidence: [evidence],
          todo: todo ?? this.todo,
        };
      });
  },
};
