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

/** A cluster that is checked from outside. */
export interface RunningCluster {
  readonly host: Host;
  /** The administrator's, as written by `sno create`, and later by `sno wait-for`. */
  readonly kubeconfig: string;
  /** `<cluster>.<base domain>`, in the names that the API has. Default: that of the installation. */
  readonly domain?: string;
  /** The Ignition config that it was installed with. */
  readonly ignition: string;
  /** Folders with the components' binaries. */
  readonly kubernetes: string;
  readonly etcd: string;
  /** On a real file system, removed after the run. */
  readonly folder: string;
  /** Journals of all boots. */
  readonly journals: readonly string[];
}

/** One that was prepared on a live host. */
export interface InstalledCluster extends RunningCluster {
  /** Data from the combined Ignition, read from the disk before its first boot. */
  readonly carried: Carried;
  /** Objects from the live stage's API. */
  readonly liveObjects: LiveObjects;
}

/** A condition on a host whose installation is complete. */
export interface Check<T> {
  readonly name: string;
  /** Throws with what was found instead. */
  run(cluster: T, signal: AbortSignal): Promise<void>;
}

/** Of every installation. */
export type RunningCheck = Check<RunningCluster>;
/** Of an installation that was prepared on a live host. */
export type ClusterCheck = Check<InstalledCluster>;
