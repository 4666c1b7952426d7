import { z } from 'zod';
import { describeError, Failure } from '../errors/failure.ts';
import { readTextIfPresent } from './files.ts';
import type { HostPaths } from './paths.ts';

const minutes = (count: number) => count * 60_000;
const seconds = (count: number) => count * 1000;

/**
 * Every deadline, interval and threshold of the agents, with its unit in the name.
 * `/etc/sno-agents/settings.json` overrides any of them by the same name.
 */
export const defaultSettings = {
  /** Pause between two tries of a step. */
  retryMs: seconds(2),
  /** Looking at the target disk before anything is changed, and telling the firmware of a finished one. */
  inspectDiskMs: minutes(2),
  /** All checks of the host; a name server may need the time to come up. */
  preflightMs: minutes(3),
  /** Least memory for the embedded control plane. */
  minMemoryMiB: 2048,
  /** Least size of the target disk in GB (1e9 bytes), besides the payload: the operating system, etcd, logs, and some room. */
  minDiskGB: 8,
  /** Fetching, verifying and importing the payload: bounded by a slow line or USB stick. */
  payloadMs: minutes(45),
  renderMs: seconds(60),
  /** The kubelet to answer its health endpoint. */
  kubeletMs: minutes(3),
  /** etcd to elect itself and answer. */
  etcdMs: minutes(5),
  /** The API server to be ready, the controller-manager and the scheduler to run. */
  controlPlaneMs: minutes(10),
  manifestsMs: minutes(20),
  /** Requests to create objects under way at once. */
  manifestsConcurrency: 16,
  kubeletIdentityMs: seconds(60),
  collectObjectsMs: minutes(3),
  /** Scheduler, controller-manager and API server to stop. */
  quiesceMs: minutes(5),
  /** How long etcd's revision must not move before the snapshot. */
  quietRevisionMs: seconds(2),
  snapshotMs: minutes(10),
  stopEtcdMs: minutes(3),
  logBundleMs: minutes(5),
  masterIgnitionMs: minutes(10),
  combineIgnitionMs: minutes(2),
  /** Writing the last mark of a plan. */
  finishMs: seconds(30),
  /** Largest combined Ignition: it has to fit the boot partition beside two kernels. */
  maxIgnitionMiB: 150,
  /** install-to-disk: bootkube to finish. */
  waitForBootkubeMs: minutes(120),
  /** progress: the whole live stage. */
  liveStageMs: minutes(180),
  writeDiskMs: minutes(45),
  copyPayloadMs: minutes(15),
  /** The firmware's variables; more than its commands' own deadlines together, so that none ends the installation. */
  bootOrderMs: minutes(6),
  /** sno-restore: the address to be there after the boot. */
  identityMs: minutes(5),
  /** sno-restore: the database from the snapshot, by etcdutl. */
  restoreMs: minutes(10),
  /** sno-certificates: reading and signing a dozen certificates. */
  certificatesMs: minutes(2),
  /** post-reboot: the API after a cold start. */
  apiMs: minutes(15),
  servingCertificateMs: minutes(15),
  nodeReadyMs: minutes(15),
  /** How long the API must answer without a fault before the bootstrap is called complete. */
  apiStableMs: seconds(5),
  bootstrapCompleteMs: minutes(3),
  steadyStateMs: minutes(30),
  /** Nothing of the control plane may change for this long. */
  settlingWindowMs: seconds(20),
  cleanMs: minutes(5),
  verifyCleanMs: minutes(10),
  /** Stating in the cluster that the installation is complete. */
  completeMs: minutes(3),
  retireMs: minutes(2),
  /** sno-deferred: how long after the installation a manifest may wait for its kind, by the wall clock. */
  deferredExpiryHours: 168,
  /** gather: everything; what is not collected by then is left out. Two minutes is what is promised. */
  gatherMs: seconds(105),
  /** gather: what the report is made of. */
  gatherDiagnosisMs: seconds(60),
  /** gather: reading the secrets that this host holds, which are then looked for everywhere. */
  gatherSecretsMs: seconds(20),
  /** gather: largest bundle, and what it may take of the free space where it is written and where it is collected. */
  gatherMaxMiB: 4096,
  gatherDiskSharePercent: 25,
  /** gather: with less free space than this it writes nothing to a disk. */
  gatherMinFreeMiB: 64,
  /** gather: collected files in memory, where no disk has room. */
  gatherMemoryMiB: 32,
  /** gather: small sources at once, and large ones. */
  gatherConcurrency: 4,
  gatherBulkConcurrency: 2,
} as const;

export type Settings = { readonly [Name in keyof typeof defaultSettings]: number };

/** The longest that Node's timers can count; a longer one would fire at once. */
const longestMs = 2 ** 31 - 1;

/** Made when it is needed: most hosts have no settings file, and most starts of an agent are short. */
const settingsSchema = () =>
  z
    .strictObject(
      Object.fromEntries(
        Object.keys(defaultSettings).map((name) => [name, z.number().positive().max(longestMs)]),
      ),
    )
    .partial();

/** The defaults with what the host's settings file overrides. */
export async function readSettings(paths: HostPaths): Promise<Settings> {
  const path = `${paths.config}/settings.json`;
  const text = await readTextIfPresent(path);
  return text === undefined ? defaultSettings : parseSettings(path, text);
}

export function parseSettings(path: string, text: string): Settings {
  try {
    return { ...defaultSettings, ...settingsSchema().parse(JSON.parse(text)) };
  } catch (error) {
    const found =
      error instanceof z.ZodError
        ? error.issues
            .map(({ path, message }) => [...path, message].map(String).join(': '))
            .join('; ')
        : describeError(error);
    throw new Failure('usage', `the settings in ${path} cannot be used`, {
      expected: 'a JSON object of settings with positive numbers',
      found,
    });
  }
}
