import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { components } from '../../lib/render/kubernetes/static-pod.ts';
import type { StaticPod } from '../../lib/render/renderer.ts';
import { etcdBinaries, kubernetesBinary } from './binaries.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { freePort } from './free-port.ts';
import { type Place, relocatedCommand } from './relocate.ts';

const RENDERED_PORTS = [2379, 2380, 2381, 6443, 10257, 10259];
/** Maximum time that the processes outlive their user. */
const LIFETIME_MS = 600_000;

/** Flags in addition to the rendered ones: only to make tests faster. */
const MORE_FLAGS: Readonly<Record<string, readonly string[]>> = { etcd: ['--unsafe-no-fsync'] };

export interface StaticPodStarter {
  readonly place: Place;
  /** Starts the command of a rendered pod, below the folder and on free ports. */
  start(pod: Pick<StaticPod, 'component' | 'manifest'>): Daemon;
}

/** Runs static pods as processes below a folder; each one's output is in `logs/`. */
export async function staticPodStarter(
  root: string,
  signal: AbortSignal,
): Promise<StaticPodStarter> {
  // First: on a new machine this builds them, which takes longer than a server's lifetime.
  const programs = new Map([['etcd', (await etcdBinaries(signal)).etcd]]);
  for (const name of components.slice(1)) programs.set(name, await kubernetesBinary(name, signal));
  const ports = new Map<number, number>();
  for (const port of RENDERED_PORTS) ports.set(port, await freePort());
  const place: Place = { root, ports };
  const logs = join(root, 'logs');
  await mkdir(logs, { recursive: true });
  return {
    place,
    start(pod) {
      const { program, args } = relocatedCommand(pod, place);
      const more = MORE_FLAGS[pod.component] ?? [];
      const path = programs.get(program) ?? program;
      return startDaemon(path, [...args, ...more], join(logs, `${pod.component}.log`), LIFETIME_MS);
    },
  };
}
