import { minutes, seconds } from './units.ts';

/** The live host: bootkube, install-to-disk, progress, and sno-in-place in place of a live image. */
export const liveSettings = {
  /** Collecting the objects for the installed host. */
  collectObjectsMs: minutes(3),
  /** Until the scheduler, controller-manager and API server have stopped. */
  quiesceMs: minutes(5),
  /** How long etcd's revision must stay unchanged before the snapshot. */
  quietRevisionMs: seconds(2),
  /** Taking the snapshot of etcd. */
  snapshotMs: minutes(10),
  /** etcd to stop. */
  stopEtcdMs: minutes(3),
  /** Collecting the log bundle. */
  logBundleMs: minutes(5),
  /** `master.ign` to appear. */
  masterIgnitionMs: minutes(10),
  /** Writing the combined Ignition. */
  combineIgnitionMs: minutes(2),
  /** Maximum size of the combined Ignition: it must fit the boot partition beside two kernels. */
  maxIgnitionMiB: 150,
  /** install-to-disk: until bootkube has finished. */
  waitForBootkubeMs: minutes(120),
  /** progress: the whole live stage. */
  liveStageMs: minutes(180),
  /** Writing the operating system to the disk. */
  writeDiskMs: minutes(45),
  /** sno-in-place: fetching the bundle. */
  bundleMs: minutes(15),
  /** sno-in-place: memory that must be free before the bootstrap, whose files are in memory, too. */
  minFreeMemoryMiB: 2560,
  /** In place: writing the installed system beside what is on the disk. */
  stageMs: minutes(15),
  /** Copying the payload to the disk. */
  copyPayloadMs: minutes(15),
  /** Firmware variables: more than all commands' deadlines together, so as not to fail the installation. */
  bootOrderMs: minutes(6),
} as const;
