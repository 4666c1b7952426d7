import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { etcdBinaries, kubernetesBinary } from '../../../lab/servers/binaries.ts';
import { type Daemon, freePort, startDaemon } from '../../../lab/servers/daemon.ts';
import { type Place, relocatedCommand } from '../../../lab/servers/relocate.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { components } from '../../../lib/render/kubernetes/static-pod.ts';
import { serveRuntime } from '../../unit/cri/serve-runtime.ts';

const PORTS = [2379, 2380, 2381, 6443, 10257, 10259];
const LIFETIME_MS = 400_000;
const LOOK_MS = 100;

/**
 * Runs the static pods of a folder as processes, for as long as their manifests exist, and is the
 * container runtime that lists them. The control plane behind it is real.
 */
export interface StandInKubelet extends Place {
  port(rendered: number): number;
  /** Components that end at once, as after a crash. */
  readonly broken: Set<string>;
  running(): string[];
  stop(): Promise<void>;
}

export async function startStandInKubelet(
  root: string,
  signal: AbortSignal,
): Promise<StandInKubelet> {
  const paths = hostPaths(root);
  const ports = new Map<number, number>();
  for (const port of PORTS) ports.set(port, await freePort());
  const place: Place = { root, ports };
  const programs = new Map([['etcd', (await etcdBinaries(signal)).etcd]]);
  for (const name of components.slice(1)) programs.set(name, await kubernetesBinary(name, signal));
  const daemons = new Map<string, Daemon | 'stopping'>();
  const broken = new Set<string>();
  mkdirSync(join(root, 'logs'), { recursive: true });
  mkdirSync(paths.staticPods, { recursive: true });

  const begin = (component: (typeof components)[number], manifest: string) => {
    const pod = { component, manifest, role: 'leader' as const, file: '', container: component };
    const { program, args } = relocatedCommand(pod, place);
    const more = component === 'etcd' ? ['--unsafe-no-fsync'] : [];
    const log = join(root, 'logs', `${component}.log`);
    const path = programs.get(program) ?? program;
    daemons.set(component, startDaemon(path, [...args, ...more], log, LIFETIME_MS));
  };
  const end = (component: string, daemon: Daemon) => {
    daemons.set(component, 'stopping');
    return daemon.stop().then(() => daemons.delete(component));
  };
  const look = () => {
    const files = readdirSync(paths.staticPods).filter((name) => name.endsWith('.yaml'));
    for (const component of components) {
      const daemon = daemons.get(component);
      const file = files.find((name) => name.startsWith(component));
      if (file === undefined || broken.has(component)) {
        if (daemon !== undefined && daemon !== 'stopping') void end(component, daemon);
      } else if (daemon === undefined) {
        begin(component, readFileSync(join(paths.staticPods, file), 'utf8'));
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
    broken,
    port: (port) => ports.get(port) ?? port,
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
