import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { exists, writeFileAtomic } from '../../../lib/host/files.ts';
import type { HostContext } from '../../steps/host-context.ts';

/** Creates the marker that install-to-disk, and every installer that starts bootkube, waits for. */
export const finish: StepBody<HostContext> = {
  name: 'finish',
  leaves: '/opt/openshift/.bootkube.done',
  touches: ['disk'],
  input: ({ cluster }) => cluster.clusterId,
  holds: ({ paths }) => exists(paths.bootkubeDone),
  async run({ paths, cluster }) {
    await writeFileAtomic(paths.bootkubeDone, `${cluster.clusterId}\n`, 0o644);
    return done();
  },
};
