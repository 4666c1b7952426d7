import type { MountedPartitions } from '../host/disk.ts';
import type { Host } from '../host/host.ts';
import type { Carried } from './carried.ts';
import type { LiveObjects } from './live-objects.ts';

/** Something that must be true of the disk after it was written and before it was booted. */
export interface DiskCheck {
  readonly name: string;
  /** Throws with what was found instead. */
  run(mounted: MountedPartitions, signal: AbortSignal): Promise<void>;
}

export interface InstalledCluster {
  readonly host: Host;
  /** The administrator's, as `sno create` wrote it. */
  readonly kubeconfig: string;
  /** Folders with the binaries of the components. */
  readonly kubernetes: string;
  readonly etcd: string;
  /** On a real file system, removed after the run. */
  readonly folder: string;
  /** What came through the combined Ignition, read off the disk before its first boot. */
  readonly carried: Carried;
  /** Objects as the live stage's API had them. */
  readonly liveObjects: LiveObjects;
  /** Journals of the live and of the installed host. */
  readonly journals: readonly string[];
}

/** Something that must be true of the installed host when the post-reboot plan has retired. */
export interface ClusterCheck {
  readonly name: string;
  /** Throws with what was found instead. */
  run(cluster: InstalledCluster, signal: AbortSignal): Promise<void>;
}
