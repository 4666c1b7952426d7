import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../base/errors/failure.ts';
import type { Wait } from '../../base/wait/limits.ts';
import { leftMs, neverSeen } from '../../base/wait/unchanged.ts';
import { whyNotReady } from './api-ready.ts';
import type { KubeClient, Selection } from './client.ts';
import { type KubeObject, type Pod, type Resource, resources } from './resources.ts';
import {
  mirrorPods,
  type Observation,
  observe,
  type SteadyState,
  type SteadyStateRequirements,
} from './steady-state.ts';
import { watchObjects } from './watch-objects.ts';

export interface Restarts {
  readonly pod: string;
  readonly container: string;
  readonly count: number;
}

/** Readiness must be polled, and the end of a quiet window is not an event. */
const tickMs = 1000;

/**
 * Waits until the control plane has not changed for the settling window, as shown
 * by evidence newer than this boot. Returns the restart count of each container.
 * @throws Failure `deadline` with what did not settle.
 */
export async function waitForSteadyState(
  client: KubeClient,
  required: SteadyStateRequirements,
  { signal, deadlineMs, report }: Wait,
): Promise<Restarts[]> {
  const ended = new AbortController();
  const deadline = AbortSignal.timeout(Math.max(1, Math.ceil(deadlineMs)));
  const view = new ControlPlaneView(client, AbortSignal.any([signal, deadline, ended.signal]));
  let state: SteadyState = neverSeen;
  let reported = 'nothing: the API server has not answered';
  const look = () => {
    const at = new Date();
    state = observe(state, view.observation(at), required);
    const text = describeState(state);
    if (text !== reported) report(text);
    reported = text;
    return leftMs(state, at, required.settlingWindowMs) === 0;
  };
  try {
    await Promise.race([view.follow(required.nodeName, look), view.tick(look)]);
    return restartsOf(view.observation(new Date()).pods ?? [], required);
  } catch (error) {
    signal.throwIfAborted();
    if (!deadline.aborted) throw error;
    throw new Failure(
      'deadline',
      `the control plane did not settle within ${Math.round(deadlineMs / 1000)}s`,
      { expected: `no change for ${required.settlingWindowMs / 1000}s`, found: reported },
    );
  } finally {
    ended.abort();
  }
}

type Seen = Omit<Observation, 'at' | 'apiProblem'>;

/** The latest state of everything that steady state depends on. */
class ControlPlaneView {
  readonly #client: KubeClient;
  readonly #signal: AbortSignal;
  readonly #lost = new Map<string, string>();
  #seen: Seen = {};
  #readiness: string | undefined = 'readiness has not been checked yet';

  constructor(client: KubeClient, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  observation(at: Date): Observation {
    const [watchLost] = this.#lost.values();
    return { ...this.#seen, at, apiProblem: this.#readiness ?? watchLost };
  }

  /** Watches until the signal fires, calling `changed` after each change. */
  async follow(nodeName: string, changed: () => void): Promise<void> {
    const kubeSystem = { namespace: 'kube-system' };
    const own = { ...kubeSystem, fieldSelector: `spec.nodeName=${nodeName}` };
    const self = { fieldSelector: `metadata.name=${nodeName}` };
    const { nodes, pods, leases, apiServices } = resources;
    const take = (part: Seen) => {
      this.#seen = { ...this.#seen, ...part };
      changed();
    };
    await Promise.all([
      this.#follow(nodes, self, ([node]) => take({ node })),
      this.#follow(pods, own, (items) => take({ pods: items })),
      this.#follow(leases, kubeSystem, (items) => take({ leases: items })),
      this.#follow(apiServices, {}, (items) => take({ apiServices: items })),
    ]);
  }

  /** Polls readiness until `settled` returns true. */
  async tick(settled: () => boolean): Promise<void> {
    do {
      await sleep(tickMs, undefined, { signal: this.#signal });
      this.#readiness = await whyNotReady(this.#client, this.#signal);
    } while (!settled());
  }

  async #follow<T extends KubeObject>(
    resource: Resource<T>,
    selection: Selection,
    take: (items: T[]) => void,
  ): Promise<void> {
    const { plural } = resource;
    for await (const { objects, lost } of watchObjects(
      this.#client,
      resource,
      selection,
      this.#signal,
    )) {
      if (lost === undefined) this.#lost.delete(plural);
      else this.#lost.set(plural, lost.message);
      take([...objects.values()]);
    }
  }
}

function describeState({ unsettled, changes, since }: SteadyState): string {
  if (unsettled.length > 0) return [...unsettled, ...changes].join('; ');
  const quiet = `nothing has changed since ${since?.toISOString() ?? 'now'}`;
  return changes.length === 0 ? quiet : `changed: ${changes.join('; ')}`;
}

function restartsOf(pods: readonly Pod[], required: SteadyStateRequirements): Restarts[] {
  return mirrorPods(pods, required).flatMap((pod) =>
    (pod.status?.containerStatuses ?? []).map(({ name, restartCount }) => ({
      pod: pod.metadata.name,
      container: name,
      count: restartCount,
    })),
  );
}
