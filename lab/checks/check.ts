import type { MountedPartitions } from '../host/disk.ts';
import type { Host } from '../host/host.ts';

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
  /** Folder with kubectl and the other Kubernetes binaries. */
  readonly kubernetes: string;
}

/** Something that must be true of the installed host when the post-reboot plan has retired. */
export interface ClusterCheck {
  readonly name: string;
  /** Throws with what was found instead. */
  run(cluster: InstalledCluster, signal: AbortSignal): Promise<void>;
}
