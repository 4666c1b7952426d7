import { inspectTarget, requireWritable } from '../../lib/cluster/installation/inspect.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { bootInstalled } from './boot-installed.ts';
import type { InstallContext } from './host-context.ts';

/**
 * Checks the disk first: the live stage keeps no state across a power cut, and a live medium
 * left first in the boot order must not erase a running cluster.
 */
export const inspectDisk: StepBody<InstallContext> = {
  name: 'inspect-disk',
  leaves: 'a target disk that may be written; the disk is not changed',
  touches: ['disk'],
  retries: true,
  input: ({ cluster }) => [cluster.clusterId, cluster.installation],
  holds: async () => true,
  async run(context, progress) {
    const { cluster, paths } = context;
    const finding = await inspectTarget(cluster, paths, progress.signal);
    if (finding.kind === 'finished') return bootInstalled(context, finding, progress);
    return done(requireWritable(cluster, finding));
  },
};
