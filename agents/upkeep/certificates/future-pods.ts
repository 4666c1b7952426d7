import { type ContainerRuntime, connectHostRuntime } from '../../../lib/clients/cri/runtime.ts';
import type { CallLimits } from '../../../lib/clients/grpc/client.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { onceReady } from '../../steps/request-deadline.ts';

interface EndedPod {
  readonly id: string;
  readonly name: string;
}

/** Pods that have ended, with a date in the future by this clock: the clock was fast when they were created. */
async function futurePods(runtime: ContainerRuntime, limits: CallLimits): Promise<EndedPod[]> {
  const sandboxes = await runtime.listPodSandboxes(limits);
  const containers = await runtime.listContainers(limits);
  const nowMs = Date.now();
  return sandboxes.filter((sandbox) => {
    const own = containers.filter(({ podSandboxId }) => podSandboxId === sandbox.id);
    const hasEnded = !sandbox.ready && own.every(({ state }) => state !== 'running');
    return hasEnded && [sandbox, ...own].some(({ createdAtMs }) => createdAtMs > nowMs);
  });
}

/**
 * Removes pods of the future from the runtime, before the kubelet starts. It takes the newest sandbox of a pod for the present
 * one (kuberuntime: sandboxes sorted by creation), and would wait for one that has ended until the clock has passed it: the
 * sandbox that it makes now seems older, and each attempt to make another one fails, since its name is taken.
 *
 * If the runtime refuses until the deadline, the kubelet starts nevertheless: some of its pods are better than none.
 */
export const futurePodsRemoved: StepBody<HostContext> = {
  name: 'future-pods',
  leaves: 'no pod in the runtime that has ended and was made later than now',
  touches: ['runtime', 'clock'],
  retries: true,
  input: () => null,
  async holds({ paths }, { signal }) {
    using runtime = connectHostRuntime(paths);
    return (await futurePods(runtime, onceReady(signal))).length === 0;
  },
  async run({ paths }, progress) {
    using runtime = connectHostRuntime(paths);
    const limits = onceReady(progress.signal);
    const pods = await futurePods(runtime, limits);
    for (const { id, name } of pods) {
      await runtime.removePodSandbox(id, limits);
      progress.say(`Removed the pod ${name}: it is from a time when the clock was fast`);
    }
    return done(`${pods.length} removed`);
  },
  instead: async (_, failure) =>
    `pods that are from a time when the clock was fast may not start: ${failure.message}`,
};
