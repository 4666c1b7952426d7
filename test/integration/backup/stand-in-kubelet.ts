import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Daemon } from '../../../lab/servers/daemon.ts';
import type { Place } from '../../../lab/servers/relocate.ts';
import { staticPodStarter } from '../../../lab/servers/static-pod-starter.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { components } from '../../../lib/render/kubernetes/static-pod.ts';
import { serveRuntime } from '../../unit/cri/serve-runtime.ts';

const LOOK_MS = 100;

/**
 * Runs the static pods of a folder as processes, for as long as their manifests exist, and is the
 * container runtime that lists them. The control plane behind it is real.
 */
export interface StandInKubelet extends Place {
  port(rendered: number): number;
  running(): string[];
  stop(): Promise<void>;
}

export async function startStandInKubelet(
  root: string,
  signal: AbortSignal,
): Promise<StandInKubelet> {
  const paths = hostPaths(root);
  const { place, start } = await staticPodStarter(root, signal);
  const daemons = new Map<string, Daemon | 'stopping'>();
  mkdirSync(paths.staticPods, { recursive: true });

  const end = (component: string, daemon: Daemon) => {
    daemons.set(component, 'stopping');
    return daemon.stop().then(() => daemons.delete(component));
  };
  const look = () => {
    const files = readdirSync(paths.staticPods).filter((name) => name.endsWith('.yaml'));
    for (const component of components) {
      const daemon = daemons.get(component);
      const file = files.find((name) => name.startsWith(component));
      if (file === undefined) {
        if (daemon !== undefined && daemon !== 'stopping') void end(component, daemon);
      } else if (daemon === undefined) {
        const manifest = readFileSync(join(paths.staticPods, file), 'utf8');
        daemons.set(component, start({ component, manifest }));
      }
    }
  };
  const timer = setInterval(look, LOOK_MS);
  look();

  const [socket = ''] = paths.runtimeSockets;
  mkdirSync(dirname(socket), { recursive: true });
  const runtime = await serveRuntime(socket, {
    ListContainers: () => ({
      containers: [...daemons.keys()].map((name) => ({
        id: name,
        metadata: { name },
        state: 'CONTAINER_RUNNING',
      })),
    }),
  });
  return {
    ...place,
    port: (port) => place.ports.get(port) ?? port,
    running: () => [...daemons.keys()],
    async stop() {
      clearInterval(timer);
      runtime.forceShutdown();
      await Promise.all(
        [...daemons].map(([name, daemon]) =>
          daemon === 'stopping' ? undefined : end(name, daemon),
        ),
      );
    },
  };
}
