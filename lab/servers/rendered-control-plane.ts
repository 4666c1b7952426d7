import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hostPaths } from '../../lib/host/paths.ts';
import { waitForApi } from '../../lib/kube/api-ready.ts';
import { type KubeClient, kubeClient } from '../../lib/kube/client.ts';
import { accessTo } from '../../lib/render/access.ts';
import { liveHost } from '../../lib/render/hosts.ts';
import type { Rendered, StaticPod } from '../../lib/render/renderer.ts';
import { placeFiles } from '../../lib/render/store.ts';
import { etcdBinaries, kubernetesBinary } from './binaries.ts';
import { type Daemon, freePort, startDaemon } from './daemon.ts';
import { type Place, relocatedCommand, relocatedFile } from './relocate.ts';

/** A rendered control plane that runs below a folder, each component with its static pod's command. */
export interface RenderedControlPlane extends Place {
  /** The bootstrap's administrator. */
  readonly admin: KubeClient;
  /** The actual port for a component's rendered port. */
  port(rendered: number): number;
  /** Stops a component and starts it anew, with what its files contain now. */
  restart(component: string): Promise<void>;
  stop(): Promise<void>;
}

const RENDERED_PORTS = [2379, 2380, 2381, 6443, 10257, 10259];
const readyMs = 120_000;
/** Maximum time that its processes outlive their user. */
const lifetimeMs = 600_000;

/** Flags in addition to the rendered ones: only to make tests faster. */
const MORE_FLAGS: Readonly<Record<string, readonly string[]>> = { etcd: ['--unsafe-no-fsync'] };

/** Starts all components concurrently, as a kubelet does; returns when the API is ready. */
export async function startRenderedControlPlane(
  rendered: Rendered,
  root: string,
  signal: AbortSignal,
): Promise<RenderedControlPlane> {
  // First: on a new machine this builds them, which takes longer than a server's lifetime.
  const programs = new Map([['etcd', (await etcdBinaries(signal)).etcd]]);
  for (const { component } of rendered.staticPods.filter(({ role }) => role !== 'database')) {
    programs.set(component, await kubernetesBinary(component, signal));
  }
  const ports = new Map<number, number>();
  for (const port of RENDERED_PORTS) ports.set(port, await freePort());
  const place: Place = { root, ports };
  await placeFiles(hostPaths(root), liveHost, {
    ...rendered,
    files: rendered.files.map((file) => relocatedFile(file, place)),
  });
  const logs = join(root, 'logs');
  await mkdir(logs, { recursive: true });
  const start = (pod: StaticPod): Daemon => {
    const { program, args } = relocatedCommand(pod, place);
    const more = MORE_FLAGS[pod.component] ?? [];
    const path = programs.get(program) ?? program;
    return startDaemon(path, [...args, ...more], join(logs, `${pod.component}.log`), lifetimeMs);
  };
  const daemons = new Map(rendered.staticPods.map((pod) => [pod.component, start(pod)]));
  const stopDaemons = async () => {
    await Promise.all([...daemons.values()].map((daemon) => daemon.stop()));
  };
  const restart = async (component: string) => {
    await daemons.get(component)?.stop();
    const pod = rendered.staticPods.find((each) => each.component === component);
    if (pod !== undefined) daemons.set(component, start(pod));
  };
  try {
    const { bootstrapAdmin } = accessTo('kubernetes').kubeconfigs;
    const admin = await kubeClient(join(root, bootstrapAdmin));
    await waitForApi(admin, { signal, deadlineMs: readyMs, report: () => {} });
    const stop = async () => {
      admin[Symbol.dispose]();
      await stopDaemons();
    };
    return { ...place, admin, port: (port) => ports.get(port) ?? port, restart, stop };
  } catch (error) {
    await stopDaemons();
    throw error;
  }
}
