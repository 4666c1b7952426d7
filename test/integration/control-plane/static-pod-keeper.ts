/** What a kubelet and its runtime do for static pods, for control planes that run without them. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '@grpc/grpc-js';
import { parseDocument } from 'yaml';
import { ETCD_MANIFEST_FILE } from '../../../lib/cluster/installation/snapshot-record.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { READ_ONCE_ANNOTATION, readOnceOf } from '../../../lib/render/kubernetes/read-once.ts';
import type { StaticPod } from '../../../lib/render/renderer.ts';
import { serveRuntime } from '../../unit/clients/cri/serve-runtime.ts';
import { rendered } from '../../unit/render/rendered-host.ts';
import type { World } from './world.ts';

/** As on a host that a live host wrote. */
const fileOf = ({ component, file }: StaticPod): string =>
  component === 'etcd' ? ETCD_MANIFEST_FILE : file;

const PROBED_PORT = ['spec', 'containers', 0, 'readinessProbe', 'httpGet', 'port'];

/**
 * Restarts a component when its manifest changes or it has ended, as without an API server; the runtime
 * lists what runs, with annotations.
 */
export class StaticPodKeeper {
  /** Components in the order of their restarts. */
  readonly restarts: string[] = [];
  readonly #world: World;
  readonly #paths: HostPaths;
  /** Manifests of the running components. */
  readonly #runs: Map<string, string>;
  readonly #stop = new AbortController();
  readonly #runtime: Server;
  readonly #running: Promise<unknown>;

  private constructor(world: World, paths: HostPaths, runtime: Server, runs: Map<string, string>) {
    this.#world = world;
    this.#paths = paths;
    this.#runtime = runtime;
    this.#runs = runs;
    this.#running = Promise.all(
      rendered.staticPods.map((pod) => this.#keep(pod).catch(() => undefined)),
    );
  }

  /** Places the rendered manifests, each with the port at which its program really listens. */
  static async start(world: World, paths: HostPaths): Promise<StaticPodKeeper> {
    const runs = new Map<string, string>();
    for (const pod of rendered.staticPods) {
      const manifest = parseDocument(pod.manifest);
      manifest.setIn(PROBED_PORT, world.plane.port(Number(manifest.getIn(PROBED_PORT))));
      const text = manifest.toString();
      await writeFile(join(paths.staticPods, fileOf(pod)), text, { mode: 0o600 });
      runs.set(pod.component, text);
    }
    const [socket] = paths.runtimeSockets;
    await mkdir(dirname(socket), { recursive: true });
    const runtime = await serveRuntime(socket, {
      ListPodSandbox: () => ({ items: [...runs].map(([name, text]) => sandboxOf(name, text)) }),
      ListContainers: () => ({ containers: [...runs.keys()].map(containerOf) }),
    });
    return new StaticPodKeeper(world, paths, runtime, runs);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#runtime.forceShutdown();
    await this.#running;
  }

  async #keep(pod: StaticPod): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const wanted = await readFile(join(this.#paths.staticPods, fileOf(pod)), 'utf8');
      const isChanged = wanted !== this.#runs.get(pod.component);
      if (isChanged) this.restarts.push(pod.component);
      if (isChanged || !this.#world.plane.isRunning(pod.component)) {
        this.#runs.delete(pod.component);
        await this.#world.plane.restart(pod.component);
        this.#runs.set(pod.component, wanted);
      }
      await sleep(200, undefined, { signal });
    }
  }
}

const sandboxOf = (name: string, manifest: string) => ({
  id: name,
  metadata: { name, namespace: 'kube-system' },
  state: 'SANDBOX_READY',
  annotations: { [READ_ONCE_ANNOTATION]: readOnceOf(manifest) ?? '' },
});

const containerOf = (name: string) => ({
  id: name,
  podSandboxId: name,
  metadata: { name },
  state: 'CONTAINER_RUNNING',
});
