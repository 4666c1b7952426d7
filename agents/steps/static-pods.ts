import { join } from 'node:path';
import type { Container } from '../../lib/clients/cri/messages.ts';
import { connectHostRuntime } from '../../lib/clients/cri/runtime.ts';
import { waitForContainers } from '../../lib/clients/cri/wait.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { exists, readTextIfPresent, removeFile, writeFileAtomic } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { StaticPod } from '../../lib/render/renderer.ts';
import { REQUEST_DEADLINE_MS } from './request-deadline.ts';

/** Places a static pod for the kubelet; an identical one is left unchanged. */
export async function placeStaticPod(
  paths: HostPaths,
  pod: Pick<StaticPod, 'file' | 'manifest'>,
): Promise<void> {
  const path = join(paths.staticPods, pod.file);
  if ((await readTextIfPresent(path)) === pod.manifest) return;
  await writeFileAtomic(path, pod.manifest, 0o600);
}

export async function isPlaced(paths: HostPaths, pod: StaticPod): Promise<boolean> {
  return exists(join(paths.staticPods, pod.file));
}

/** Removes static pods and waits until none of their containers is running. */
export async function removeStaticPods(
  paths: HostPaths,
  pods: readonly Pick<StaticPod, 'file' | 'container'>[],
  progress: Progress,
): Promise<void> {
  for (const pod of pods) await removeFile(join(paths.staticPods, pod.file));
  const names = pods.map((pod) => pod.container);
  await progress.wait(`${names.join(', ')} to stop`, () =>
    waitUntilStopped(paths, names, progress),
  );
}

/** Containers that are to end. */
interface Ending {
  /** Omitted: every one. */
  readonly names?: readonly string[];
  /** From SIGTERM to SIGKILL. */
  readonly graceSeconds: number;
}

/** Ends running containers, while no kubelet runs that would start them again. */
export async function stopContainers(
  paths: HostPaths,
  { names, graceSeconds }: Ending,
  progress: Progress,
): Promise<void> {
  using runtime = connectHostRuntime(paths);
  const { signal } = progress;
  const running = await runningContainers(paths, names, signal);
  const limits = { signal, deadlineMs: graceSeconds * 1000 + REQUEST_DEADLINE_MS };
  const what = names?.join(', ') ?? `${running.length} containers`;
  await progress.wait(`${what} to stop`, () =>
    Promise.all(running.map(({ id }) => runtime.stopContainer(id, graceSeconds, limits))),
  );
}

async function waitUntilStopped(
  paths: HostPaths,
  containers: readonly string[],
  progress: Progress,
): Promise<void> {
  await waitForNamed(
    paths,
    `${containers.join(', ')} to stop`,
    (all) => !all.some(({ name, state }) => containers.includes(name) && state === 'running'),
    progress,
  );
}

/** Waits until a container of each name is running. */
export async function waitUntilRunning(
  paths: HostPaths,
  containers: readonly string[],
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  await waitForNamed(
    paths,
    `${containers.join(', ')} to run`,
    (all) =>
      containers.every((name) =>
        all.some((each) => each.name === name && each.state === 'running'),
      ),
    progress,
    signal,
  );
}

async function waitForNamed(
  paths: HostPaths,
  description: string,
  predicate: (all: readonly Container[]) => boolean,
  progress: Progress,
  signal: AbortSignal = progress.signal,
): Promise<void> {
  using runtime = connectHostRuntime(paths);
  await waitForContainers(runtime, predicate, {
    description,
    signal,
    deadlineMs: progress.remainingMs(),
    report: (text) => progress.waitingFor(text),
  });
}

/** Whether none of the containers is running. @param names omitted: of all */
export async function areStopped(
  paths: HostPaths,
  names: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  return (await runningContainers(paths, names, signal)).length === 0;
}

async function runningContainers(
  paths: HostPaths,
  names: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<Container[]> {
  using runtime = connectHostRuntime(paths);
  const all = await runtime.listContainers({ signal, deadlineMs: REQUEST_DEADLINE_MS });
  return all.filter(
    ({ name, state }) => state === 'running' && (names === undefined || names.includes(name)),
  );
}
