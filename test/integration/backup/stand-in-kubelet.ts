import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Daemon } from '../../../lab/servers/daemon.ts';
import type { Place } from '../../../lab/servers/relocate.ts';
import { staticPodStarter } from '../../../lab/servers/static-pod-starter.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { components } from '../../../lib/render/kubernetes/static-pod.ts';
import { KUBELET_ACTIVE, stopRequest } from '../../unit/agents/host/kubelet-unit.ts';
import { serveRuntime } from '../../unit/clients/cri/serve-runtime.ts';

const LOOK_MS = 100;

/**
 * Runs the static pods of a folder as processes, for as long as their manifests exist, and is the
 * container runtime that lists and stops them. The control plane behind it is real. `systemctl` is
 * that of test/unit/agents/host/kubelet-unit.ts: a kubelet that is stopped neither starts nor ends a pod.
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
    if (!existsSync(paths.at(KUBELET_ACTIVE))) return;
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
  mkdirSync(dirname(paths.at(KUBELET_ACTIVE)), { recursive: true });
  writeFileSync(paths.at(KUBELET_ACTIVE), '');
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
    async StopContainer(request) {
      const name = components.find((each) => each === stopRequest.parse(request).containerId);
      const daemon = name === undefined ? undefined : daemons.get(name);
      if (name !== undefined && daemon !== undefined && daemon !== 'stopping') {
        await end(name, daemon);
      }
      return {};
    },
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
