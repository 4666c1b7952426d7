import { join } from 'node:path';
import { waitForApi } from '../../lib/clients/kube/api-ready.ts';
import { type KubeClient, kubeClient } from '../../lib/clients/kube/client.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { accessTo } from '../../lib/render/access.ts';
import { liveHost } from '../../lib/render/hosts.ts';
import type { Rendered } from '../../lib/render/renderer.ts';
import { placeFiles } from '../../lib/render/store.ts';
import { type Place, relocatedFile } from './relocate.ts';
import { staticPodStarter } from './static-pod-starter.ts';

/** A rendered control plane that runs below a folder, each component with its static pod's command. */
export interface RenderedControlPlane extends Place {
  /** The bootstrap's administrator. */
  readonly admin: KubeClient;
  /** The actual port for a component's rendered port. */
  port(rendered: number): number;
  isRunning(component: string): boolean;
  /** Stops a component and starts it anew, with what its files contain now. */
  restart(component: string): Promise<void>;
  stop(): Promise<void>;
}

const readyMs = 120_000;

/** Starts all components concurrently, as a kubelet does; returns when the API is ready. */
export async function startRenderedControlPlane(
  rendered: Rendered,
  root: string,
  signal: AbortSignal,
): Promise<RenderedControlPlane> {
  const { place, start } = await staticPodStarter(root, signal);
  await placeFiles(hostPaths(root), liveHost, {
    ...rendered,
    files: rendered.files.map((file) => relocatedFile(file, place)),
  });
  const daemons = new Map(rendered.staticPods.map((pod) => [pod.component, start(pod)]));
  const stopDaemons = async () => {
    await Promise.all([...daemons.values()].map((daemon) => daemon.stop()));
  };
  const restart = async (component: string) => {
    await daemons.get(component)?.stop();
    const pod = rendered.staticPods.find((each) => each.component === component);
    if (pod !== undefined) daemons.set(component, start(pod));
  };
  const isRunning = (component: string) => daemons.get(component)?.isRunning() ?? false;
  try {
    const { bootstrapAdmin } = accessTo('kubernetes').kubeconfigs;
    const admin = await kubeClient(join(root, bootstrapAdmin));
    await waitForApi(admin, { signal, deadlineMs: readyMs, report: () => {} });
    const stop = async () => {
      admin[Symbol.dispose]();
      await stopDaemons();
    };
    return {
      ...place,
      admin,
      port: (port) => place.ports.get(port) ?? port,
      isRunning,
      restart,
      stop,
    };
  } catch (error) {
    await stopDaemons();
    throw error;
  }
}
