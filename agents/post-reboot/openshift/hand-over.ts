import { Failure } from '../../../lib/base/errors/failure.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { readTextIfPresent, removeFile, sha256 } from '../../../lib/host/files.ts';
import {
  type BootstrapPod,
  readBootstrapPods,
} from '../../../lib/render/openshift/bootstrap-pods.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { mountedPaths, neededMount } from '../../steps/mounted-paths.ts';
import { waitAndLogRevisions } from './wait.ts';

/**
 * Deletes a static pod of the bootstrap whose operator has written its own into another file. Usually
 * there is none: the operators replace the files in place, and those are theirs.
 */
export const handOver: StepBody<HostContext> = {
  name: 'hand-over',
  leaves: 'no static pod of the bootstrap',
  touches: ['disk', 'api', 'runtime'],
  retries: true,
  neededUntil: 'clean',
  input: ({ cluster }) => cluster.clusterId,
  holds: async (context) => (await leftPods(context)).length === 0,
  async run(context, progress) {
    // Nothing is deleted unless the operator's pod of each component runs now.
    const what = "the operators' own static pods";
    await waitAndLogRevisions(context, progress, 'taken-over', what);
    const left = await leftPods(context);
    const { paths } = context;
    const mounted = left.length === 0 ? [] : await mountedPaths(paths, progress.signal);
    for (const { component, path } of left) {
      const mount = await neededMount(
        paths.at(path),
        mounted,
        left.map((pod) => paths.at(pod.path)),
      );
      if (mount !== undefined) {
        throw new Failure('retry', `a running container mounts ${mount}, which contains ${path}`, {
          code: 'leftover-remains',
        });
      }
      await removeFile(paths.at(path));
      progress.say(`Removed ${path}: the operator's own pod of ${component} runs`);
    }
    return done(left.length === 0 ? 'all replaced in place' : `${left.length} deleted`);
  },
};

/** Those whose file still has the contents that the bootstrap wrote. */
async function leftPods({ paths }: HostContext): Promise<BootstrapPod[]> {
  const left: BootstrapPod[] = [];
  for (const pod of await readBootstrapPods(paths)) {
    const text = await readTextIfPresent(paths.at(pod.path));
    if (text !== undefined && sha256(text) === pod.sha256) left.push(pod);
  }
  return left;
}
