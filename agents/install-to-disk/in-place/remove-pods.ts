import { connectHostRuntime } from '../../../lib/clients/cri/runtime.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { stopUnit } from '../../../lib/host/systemd.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { onceReady } from '../../steps/request-deadline.ts';

/**
 * Removes the pods of the bootstrap from the runtime, whose database is on the disk: the kubelet of the installed host
 * would take them for its own that have ended, and count restarts.
 */
export const removePods: StepBody<HostContext> = {
  name: 'remove-pods',
  leaves: 'no pod of the bootstrap in the container runtime, and no kubelet that makes one',
  touches: ['runtime', 'systemd'],
  retries: true,
  neededUntil: 'restart',
  input: ({ cluster }) => cluster.clusterId,
  async holds({ paths }, { signal }) {
    using runtime = connectHostRuntime(paths);
    return (await runtime.listPodSandboxes(onceReady(signal))).length === 0;
  },
  async run({ paths }, { signal }) {
    await stopUnit('kubelet.service', signal);
    using runtime = connectHostRuntime(paths);
    const sandboxes = await runtime.listPodSandboxes(onceReady(signal));
    for (const { id } of sandboxes) {
      await runtime.stopPodSandbox(id, onceReady(signal));
      await runtime.removePodSandbox(id, onceReady(signal));
    }
    return done(`${sandboxes.length} pods`);
  },
};
