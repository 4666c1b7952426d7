import { Failure } from '../../../lib/base/errors/failure.ts';
import type {
  Container,
  CriContainerStatus,
  PodSandbox,
} from '../../../lib/clients/cri/messages.ts';
import {
  type ContainerRuntime,
  connectRuntime,
  runningSocket,
} from '../../../lib/clients/cri/runtime.ts';
import { type GatherHost, patient } from '../gather-host.ts';

/** Timeout of the single call that shows whether the runtime answers. */
const PROBE_MS = 5000;
export const CALL_MS = 10_000;
/** For the states of all containers together. */
const STATES_MS = 15_000;
const CONCURRENCY = 8;

/** A listed container, with its state if the runtime still had it. */
export interface ListedContainer extends Container {
  readonly status?: CriContainerStatus;
  readonly pod: { readonly name: string; readonly namespace: string; readonly uid: string };
}

/** Contents of this host's container runtime. */
export interface RuntimeView {
  /** Newest first. */
  readonly containers: readonly ListedContainer[];
  readonly sandboxes: readonly PodSandbox[];
}

const known = new WeakMap<GatherHost, Promise<RuntimeView>>();

/**
 * This host's runtime, queried once for all source groups.
 * @throws Failure that says why it cannot be used: no socket, refused, or no response.
 */
export function runtimeView(host: GatherHost, signal: AbortSignal): Promise<RuntimeView> {
  const view = known.get(host) ?? withRuntime(host, (runtime) => look(host, runtime, signal));
  known.set(host, view);
  return view;
}

/** Connects to the runtime for the duration of `use`. */
export async function withRuntime<T>(
  { paths }: GatherHost,
  use: (runtime: ContainerRuntime) => Promise<T>,
): Promise<T> {
  const socket = runningSocket(paths);
  if (socket === undefined) {
    throw new Failure('retry', 'the container runtime is not running', {
      expected: `a socket ${paths.runtimeSockets.join(' or ')}`,
      found: 'none',
    });
  }
  using runtime = connectRuntime(socket);
  return await use(runtime);
}

async function look(
  host: GatherHost,
  runtime: ContainerRuntime,
  signal: AbortSignal,
): Promise<RuntimeView> {
  await runtime.version({ signal, deadlineMs: patient(host, PROBE_MS) });
  const limits = { signal, deadlineMs: patient(host, CALL_MS) };
  const [containers, sandboxes] = await Promise.all([
    runtime.listContainers(limits),
    runtime.listPodSandboxes(limits),
  ]);
  const states = await statesOf(host, runtime, containers, signal);
  const byId = new Map(sandboxes.map((sandbox) => [sandbox.id, sandbox]));
  const listed = containers.map((container): ListedContainer => {
    const status = states.get(container.id);
    return {
      ...container,
      ...(status === undefined ? {} : { status }),
      pod: podOf(container, byId.get(container.podSandboxId)),
    };
  });
  return { containers: listed.toSorted((a, b) => b.createdAtMs - a.createdAtMs), sandboxes };
}

function podOf({ labels }: Container, sandbox: PodSandbox | undefined) {
  return {
    name: labels['io.kubernetes.pod.name'] ?? sandbox?.name ?? '',
    namespace: labels['io.kubernetes.pod.namespace'] ?? sandbox?.namespace ?? '',
    uid: labels['io.kubernetes.pod.uid'] ?? sandbox?.uid ?? '',
  };
}

/** As many as time allows: a container without a known state is listed without it. */
async function statesOf(
  host: GatherHost,
  runtime: ContainerRuntime,
  containers: readonly Container[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, CriContainerStatus>> {
  const states = new Map<string, CriContainerStatus>();
  const limit = AbortSignal.any([signal, AbortSignal.timeout(patient(host, STATES_MS))]);
  const queue = containers.values();
  const worker = async () => {
    for (const { id } of queue) {
      const limits = { signal: limit, deadlineMs: patient(host, CALL_MS) };
      const status = await runtime.containerStatus(id, limits).catch(() => undefined);
      if (limit.aborted) return;
      if (status !== undefined) states.set(id, status);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  signal.throwIfAborted();
  return states;
}
