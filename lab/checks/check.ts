import type { MountedPartitions } from '../host/disk.ts';
import type { Host } from '../host/host.ts';
import type { Carried } from './carried.ts';
import type { LiveObjects } from './live-objects.ts';

/** A condition on the disk after it was written and before it is booted. */
export interface DiskCheck {
  readonly name: string;
  /** Throws with what was found instead. */
  run(mounted: MountedPartitions, signal: AbortSignal): Promise<void>;
}

export interface InstalledCluster {
  readonly host: Host;
  /** The administrator's, as written by `sno create`. */
  readonly kubeconfig: string;
  /** Folders with the components' binaries. */
  readonly kubernetes: string;
  readonly etcd: string;
  /** On a real file system, removed after the run. */
  readonly folder: string;
  /** Data from the combined Ignition, read from the disk before its first boot. */
  readonly carried: Carried;
  /** Objects from the live stage's API. */
  readonly liveObjects: LiveObjects;
  /** Journals of the live and the installed host. */
  readonly journals: readonly string[];
}

/** A condition on the installed host after the post-reboot plan has finished. */
export interface ClusterCheck {
  readonly name: string;
  /** Throws with what was found instead. */
  run(cluster: InstalledCluster, signal: AbortSignal): Promise<void>;
}
