import { Failure } from '../../../lib/base/errors/failure.ts';
import {
  type NotMet,
  orError,
  type WaitCondition,
  waitUntil,
} from '../../../lib/base/wait/wait-until.ts';
import { type ContainerRuntime, connectHostRuntime } from '../../../lib/clients/cri/runtime.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { READ_ONCE_ANNOTATION, readOnceOf } from '../../../lib/render/kubernetes/read-once.ts';
import { staticPodsNeed, withCauses } from '../../steps/causes.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import type { RotateContext } from './context.ts';
import { whyUnready } from './readiness-probe.ts';

const POLL_MS = 1000;

/** The name of its only container, and its manifest. */
interface RunningPod {
  readonly component: string;
  readonly manifest: string;
}

/**
 * Waits until a static pod runs as its manifest says, and its program is ready. The container runtime
 * and the program are asked, not the API server: after its restart, the kubelet sees mirror pods
 * again up to a minute later (client-go backs off up to 60 s), and only then reports them ready.
 *
 * @throws Failure (deadline) with the state of the pod, and (fatal) if its program ends again and again
 */
export async function podReady(
  { paths, settings }: Pick<RotateContext, 'paths' | 'settings'>,
  pod: RunningPod,
  progress: Progress,
): Promise<void> {
  using runtime = connectHostRuntime(paths);
  const { component } = pod;
  const late = ({ state }: NotMet) => {
    const seconds = Math.round(settings.rotatePodMs / 1000);
    return new Failure('deadline', `${component} is not ready after ${seconds} s`, {
      subject: component,
      found: state,
    });
  };
  await progress.wait(`${component} to be ready`, ({ report }) =>
    withCauses({ paths }, staticPodsNeed(component), progress, ({ signal }) =>
      waitUntil(isReady(runtime, pod), {
        ...{ signal, report, late },
        deadlineMs: settings.rotatePodMs,
        everyMs: POLL_MS,
      }),
    ),
  );
}

const isReady = (runtime: ContainerRuntime, pod: RunningPod): WaitCondition<undefined> =>
  orError(async ({ signal }) => {
    if (!(await isRunning(runtime, pod, signal))) {
      return { state: 'the kubelet has not started the pod' };
    }
    const state = await whyUnready(pod.manifest, signal);
    return state === undefined ? { met: undefined } : { state };
  });

/** The kubelet gives the sandbox of a pod the annotations of its manifest. */
async function isRunning(
  runtime: ContainerRuntime,
  { component, manifest }: RunningPod,
  signal: AbortSignal,
): Promise<boolean> {
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  const sandboxes = await runtime.listPodSandboxes(limits);
  const current = new Set(
    sandboxes
      .filter(({ ready, annotations }) => {
        return ready && annotations[READ_ONCE_ANNOTATION] === readOnceOf(manifest);
      })
      .map(({ id }) => id),
  );
  return (await runtime.listContainers(limits)).some(
    ({ name, state, podSandboxId }) =>
      name === component && state === 'running' && current.has(podSandboxId),
  );
}
