import { join } from 'node:path';
import { type HostPaths, hostPaths } from '../../../host/paths.ts';

/** The agent that prepares a host which bootstraps on its own disk, and its folder. */
const AGENT = 'sno-in-place';

/** What such a host keeps on its disk until it is installed. */
export function inPlacePlaces({ state }: Pick<HostPaths, 'state'>) {
  const folder = join(state, AGENT);
  return {
    /** The state of the agent is here too. */
    folder,
    /** Where the bundle is, and its key. */
    config: join(folder, 'in-place.json'),
    /** In sha256sum's format. /etc/sno-agents is covered while the host bootstraps. */
    executable: join(folder, 'executable.sha256'),
    /** As it was fetched: encrypted. */
    bundle: join(folder, 'bundle.age'),
    /** What is written beside its place. */
    staged: join(folder, 'staged.json'),
  } as const;
}

/** On a medium with the layout of a live ISO, beside executable and payload. */
export const mediumBundle = ({ medium }: Pick<HostPaths, 'medium'>) =>
  join(medium, 'in-place.bundle');

/** The disk of such a host, without what covers it while the host bootstraps. */
export const underlying = ({ run }: Pick<HostPaths, 'run'>): HostPaths =>
  hostPaths(join(run, 'disk'));

/** A folder that is in memory while the host bootstraps. */
export interface MemoryFolder {
  readonly path: string;
  /** `ramfs` where keys are: unlike a tmpfs, it is never swapped to a disk. */
  readonly type: 'ramfs' | 'tmpfs';
  readonly mode: number;
}

/** In the order of mounting: every folder that the bootstrap writes to, but for `ON_DISK`. */
export const MEMORY_FOLDERS: readonly MemoryFolder[] = [
  { path: '/etc/kubernetes', type: 'ramfs', mode: 0o755 },
  { path: '/etc/sno-agents', type: 'ramfs', mode: 0o700 },
  { path: '/opt/openshift', type: 'ramfs', mode: 0o755 },
  { path: '/root/.docker', type: 'ramfs', mode: 0o700 },
  // The kubelet asks it how much is free.
  { path: '/var/lib/kubelet', type: 'tmpfs', mode: 0o750 },
  { path: '/var/lib/kubelet/pki', type: 'ramfs', mode: 0o700 },
  { path: '/var/lib/etcd', type: 'tmpfs', mode: 0o700 },
  { path: '/var/lib/sno-agents', type: 'tmpfs', mode: 0o755 },
  { path: '/var/log/kube-apiserver', type: 'tmpfs', mode: 0o700 },
  { path: '/var/log/openshift', type: 'tmpfs', mode: 0o755 },
  { path: '/var/log/pods', type: 'tmpfs', mode: 0o755 },
  { path: '/var/log/containers', type: 'tmpfs', mode: 0o755 },
];

/** Below them, but on the disk: the executable, the payload, and what `inPlacePlaces` names. No secret in the clear. */
export const ON_DISK: readonly string[] = ['bin', 'payload', AGENT].map((name) =>
  join('/var/lib/sno-agents', name),
);
