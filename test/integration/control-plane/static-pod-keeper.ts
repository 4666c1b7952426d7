/** What a kubelet does for static pods, for control planes that run without one. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { isKubeError } from '../../../lib/kube/kube-error.ts';
import { resources } from '../../../lib/kube/resources.ts';
import { READ_ONCE_ANNOTATION, readOnceOf } from '../../../lib/render/kubernetes/read-once.ts';
import { withSignedAdministrator } from '../../../lib/render/signed-access.ts';
import { rendered } from '../../unit/render/rendered-host.ts';
import { ask } from './request.ts';
import { NODE, type World } from './world.ts';

/** Each component's health, as its pod's readiness probe asks. */
const HEALTH: Readonly<Record<string, { port: number; path: string }>> = {
  etcd: { port: 2381, path: '/readyz' },
  'kube-apiserver': { port: 6443, path: '/readyz' },
  'kube-controller-manager': { port: 10257, path: '/healthz' },
  'kube-scheduler': { port: 10259, path: '/readyz' },
};

/**
 * Restarts a component when its manifest changes, and keeps its mirror pod: the manifest's
 * annotation, and Ready once the component is healthy.
 */
export class StaticPodKeeper {
  /** Components in the order of their restarts. */
  readonly restarts: string[] = [];
  readonly #world: World;
  readonly #paths: HostPaths;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;

  private constructor(world: World, paths: HostPaths) {
    this.#world = world;
    this.#paths = paths;
    this.#running = Promise.all(
      rendered.staticPods.map(({ component }) => this.#keep(component).catch(() => undefined)),
    );
  }

  /** Places the rendered manifests, and returns when every pod is ready. */
  static async start(world: World, paths: HostPaths): Promise<StaticPodKeeper> {
    for (const { file, manifest } of rendered.staticPods) {
      await writeFile(join(paths.staticPods, file), manifest, { mode: 0o600 });
    }
    return new StaticPodKeeper(world, paths);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #keep(component: string): Promise<void> {
    const { signal } = this.#stop;
    let runs = await this.#manifest(component);
    let published: string | undefined;
    while (!signal.aborted) {
      const wanted = await this.#manifest(component);
      if (wanted !== runs) {
        this.restarts.push(component);
        await this.#writeMirrorPod(component, wanted, 'False').catch(() => undefined);
        await this.#world.plane.restart(component);
        runs = wanted;
        published = undefined;
      }
      if (published !== runs && (await this.#publish(component, runs))) published = runs;
      await sleep(200, undefined, { signal });
    }
  }

  #manifest(component: string): Promise<string> {
    return readFile(join(this.#paths.staticPods, `${component}.yaml`), 'utf8');
  }

  /** False if the component or the API is not ready yet. */
  async #publish(component: string, manifest: string): Promise<boolean> {
    try {
      if (!(await this.#isHealthy(component))) return false;
      await this.#writeMirrorPod(component, manifest, 'True');
      return true;
    } catch {
      return false;
    }
  }

  async #isHealthy(component: string): Promise<boolean> {
    const { port, path } = HEALTH[component] ?? { port: 0, path: '' };
    const own = this.#world.plane.port(port);
    if (component !== 'etcd') return (await ask({ port: own, path })).code === 200;
    return (await fetch(`http://127.0.0.1:${own}${path}`)).ok;
  }

  async #writeMirrorPod(
    component: string,
    manifest: string,
    ready: 'True' | 'False',
  ): Promise<void> {
    const name = `${component}-${NODE}`;
    const place = { namespace: 'kube-system', name };
    const limits = { signal: this.#stop.signal, deadlineMs: 10_000 };
    const annotations = { [READ_ONCE_ANNOTATION]: readOnceOf(manifest) ?? '' };
    const pod = {
      metadata: { name, annotations },
      spec: {
        nodeName: NODE,
        automountServiceAccountToken: false,
        containers: [{ name: component, image: 'example.test/image' }],
      },
    };
    const status = { conditions: [{ type: 'Ready', status: ready }] };
    const path = `/api/v1/namespaces/kube-system/pods/${name}`;
    const contentType = 'application/merge-patch+json';
    await withSignedAdministrator(
      'kubernetes',
      this.#paths,
      { remainingMs: () => 10_000 },
      async (client) => {
        await client
          .create(resources.pods, { namespace: place.namespace }, pod, limits)
          .catch((error: unknown) => {
            if (!isKubeError(error, 'conflict')) throw error;
          });
        const patch = (suffix: string, body: object) =>
          client.json({ method: 'PATCH', path: path + suffix, body, contentType }, limits);
        await patch('', { metadata: { annotations } });
        await patch('/status', { status });
      },
    );
  }
}
