import type { Rule } from '../bundle-view.ts';
import { factsOf, fixOf, withCode } from '../reading/failure.ts';
import { stepFailures } from '../reading/steps.ts';

const CODES = [
  'disk-not-found',
  'disk-unsuitable',
  'disk-in-use',
  'disk-other-system',
  'disk-installed',
  'disk-kept-partitions',
] as const;

/** lib/installation/disk-refusal.ts, lib/installation/inspect.ts, agents/steps/boot-installed.ts */
export const diskRefused: Rule = {
  name: 'disk-refused',
  looksFor:
    'a disk that the installation must not write: in use, no whole disk, another system on it, or this cluster installed on it already',
  codes: CODES,
  todo: 'Do what the message says: free the disk, or name another one in bootstrapInPlace.installationDisk; remove the live medium if the installation on it is finished.',
  find(view) {
    return stepFailures(view)
      .filter(({ failure, isFinal }) => isFinal && withCode(failure, ...CODES) !== undefined)
      .map(({ failure, sinceMs, evidence }) => {
        return {
          rule: this.name,
          severity: 'failing',
          title: `The disk is not written: ${factsOf(failure)}`,
          sinceMs,
          evidence: [evidence],
          todo: fixOf(failure) ?? this.todo,
          failure,
        };
      });
  },
};
