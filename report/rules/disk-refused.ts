import type { Rule } from '../bundle-view.ts';
import { factsOf } from '../reading/failure.ts';
import { aboutFailure, stepFailuresWith } from '../reading/steps.ts';

const CODES = [
  'disk-not-found',
  'disk-unsuitable',
  'disk-in-use',
  'disk-other-system',
  'disk-installed',
  'disk-other-machine',
  'disk-kept-partitions',
] as const;

/** lib/cluster/installation/disk-refusal.ts, lib/cluster/installation/inspect.ts, agents/steps/boot-installed.ts, agents/steps/marker.ts */
export const diskRefused: Rule = {
  name: 'disk-refused',
  looksFor:
    'a disk that the installation must not write: it is in use, is not a complete disk, contains another system, or this cluster is already installed on it',
  codes: CODES,
  todo: 'Follow the message: free the disk, or set another one in bootstrapInPlace.installationDisk. If the installation on the disk is finished, remove the live medium. For an all-in-one host, create an Ignition config of its own and write the image again.',
  find(view) {
    return stepFailuresWith(view, ...CODES)
      .filter(({ isFinal }) => isFinal)
      .map((failed) => ({
        ...aboutFailure(failed),
        title: `The disk was refused: ${factsOf(failed.failure)}`,
      }));
  },
};
