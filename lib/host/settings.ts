import { isAbsolute, normalize } from 'node:path';
import { z } from 'zod';
import { describeError, Failure } from '../base/errors/failure.ts';
import { readTextIfPresent } from './files.ts';
import type { HostPaths } from './paths.ts';

const minutes = (count: number) => count * 60_000;
const seconds = (count: number) => count * 1000;

/**
 * Every deadline, interval and threshold of the agents, with its unit in the name, one switch, one folder and the TPM.
 * `/etc/sno-agents/settings.json` overrides any of them by the same name.
 */
export const defaultSettings = {
  /**
   * Whether the agents approve certificate signing requests: of the kubelet for serving, and of
   * workers in the list. If not, somebody else does: never two decide.
   */
  approveCertificates: true,
  /** Where the agents write their metrics, for the textfile collector of node_exporter. */
  metricsFolder: '/var/lib/sno-agents/metrics',
  /** sno-unseal, bootkube: the TPM, in the notation of `systemd-creds --tpm2-device`. */
  tpm2Device: 'auto',
  /** sno-unseal, bootkube: the PCRs that the key is sealed with, in the notation of `systemd-creds --tpm2-pcrs`. */
  tpm2Pcrs: '7',
  /** Pause between two attempts of a step. */
  retryMs: seconds(2),
  /** Inspecting the target disk before anything is changed; the boot order of a finished one. */
  inspectDiskMs: minutes(2),
  /** All checks of the host; a name server may take a while to come up. */
  preflightMs: minutes(3),
  /** Minimum memory for the embedded control plane. */
  minMemoryMiB: 2048,
  /**
   * Minimum size of the target disk in GB (1e9 bytes), excluding the payload: the
   * operating system, etcd, logs, and some reserve.
   */
  minDiskGB: 8,
  /** Fetching, verifying and importing the payload, or pulling a release: a slow network or USB stick. */
  payloadMs: minutes(45),
  /** OpenShift runs a program of each operator; the Kubernetes payload takes a second. */
  renderMs: minutes(5),
  /** Until the kubelet answers its health endpoint. */
  kubeletMs: minutes(3),
  /** aiokube: verifying the payload again, then until the kubelet answers its health endpoint. */
  nodeKubeletMs: minutes(15),
  /** aiokube: until the kubelet has registered its Node. */
  nodeRoleMs: minutes(5),
  /** Until etcd has elected itself leader and answers. */
  etcdMs: minutes(5),
  /** reconfigure prepare: each change that makes a node relocatable. */
  relocatableMs: minutes(3),
  /** reconfigure validate: until nothing changes any more, and everything is judged. */
  validateMs: minutes(15),
  /** reconfigure validate, OpenShift: the same, where its operators settle slowly. */
  validateOperatorsMs: minutes(45),
  /** reconfigure validate: each thing that the cluster is asked to do, such as starting a pod. */
  validateProbeMs: minutes(2),
  /** reconfigure validate: for how long nothing may change. */
  validateWindowMs: minutes(1),
  /** reconfigure validate, OpenShift: the same; operators report late what they begin. */
  validateOperatorsWindowMs: minutes(5),
  /** Until the API server is ready and the controller-manager and the scheduler run. */
  controlPlaneMs: minutes(10),
  manifestsMs: minutes(20),
  /** Maximum number of concurrent requests to create objects. */
  manifestsConcurrency: 16,
  kubeletIdentityMs: seconds(60),
  collectObjectsMs: minutes(3),
  /** Until the scheduler, controller-manager and API server have stopped. */
  quiesceMs: minutes(5),
  /** How long etcd's revision must stay unchanged before the snapshot. */
  quietRevisionMs: seconds(2),
  snapshotMs: minutes(10),
  stopEtcdMs: minutes(3),
  logBundleMs: minutes(5),
  masterIgnitionMs: minutes(10),
  combineIgnitionMs: minutes(2),
  /** Writing the final marker of a plan. */
  finishMs: seconds(30),
  /** aiokube: bringing the backup of a lost host, from the Ignition config, into the backups. */
  continueLostMs: minutes(10),
  /** Maximum size of the combined Ignition: it must fit the boot partition beside two kernels. */
  maxIgnitionMiB: 150,
  /** install-to-disk: until bootkube has finished. */
  waitForBootkubeMs: minutes(120),
  /** progress: the whole live stage. */
  liveStageMs: minutes(180),
  writeDiskMs: minutes(45),
  copyPayloadMs: minutes(15),
  /**
   * Firmware variables: more than all commands' deadlines together, so as not to
   * fail the installation.
   */
  bootOrderMs: minutes(6),
  /** sno-restore, aiokube: until the address is configured after the boot. */
  identityMs: minutes(5),
  /** worker: until the control-plane host has approved its first certificate. */
  workerApprovalMs: minutes(24 * 60),
  /** worker: until its Node has subnets for pods. */
  podNetworkMs: minutes(15),
  /** sno-worker-trust: reading and verifying the published CAs of the API server; confirming them. */
  workerTrustMs: minutes(2),
  /** sno-restore: restoring the database from the snapshot with etcdutl. */
  restoreMs: minutes(10),
  /** sno-unseal, bootkube: a TPM takes a second, and may appear late. */
  unsealKeyMs: minutes(2),
  unsealFilesMs: minutes(1),
  /** sno-certificates: reading and signing a dozen certificates. */
  certificatesMs: minutes(2),
  /** sno-renew: all leaves, in batches of three. */
  renewLeavesMs: minutes(20),
  /**
   * sno-renew: until a renewed certificate is seen or accepted. Servers check their files once a
   * minute at the latest.
   */
  renewProofMs: seconds(150),
  /** sno-renew: until the API server is ready, which starts with the host. */
  renewApiMs: minutes(5),
  /** sno-renew: the kubelet's serving certificate. Its access to the API is valid for ten minutes. */
  kubeletServingMs: minutes(8),
  /** sno-renew: one look at the requests of workers that have joined. */
  workerServingMs: minutes(8),
  /** sno-renew: a restart of the kubelet after the clock was set. */
  kubeletCertificatesMs: minutes(4),
  /**
   * sno-renew: how long to wait for the kubelet's request. A waiting kubelet sends a new one at
   * most 32 s after the last one has ended.
   */
  servingRequestMs: minutes(2),
  /** sno-renew: the end of the trust in the laptop's CA. */
  laptopCaMs: minutes(10),
  /** sno-backup: snapshot, keys and retention. */
  backupMs: minutes(20),
  /** sno-backup: how many backups are kept. The newest complete one is never deleted. */
  backupKeepCount: 7,
  backupKeepDays: 30,
  /** sno-backup: maximum share of the disk for all backups together. */
  backupDiskSharePercent: 20,
  /** sno-backup: what stays free on the disk; with less, no backup is made. */
  backupMinFreeMiB: 1024,
  /** sno-backup restore: reading the backup, and rebuilding the database beside the one in use. */
  restoreRebuildMs: minutes(20),
  /** sno-backup restore: until no container of the control plane is running. */
  restoreStopMs: minutes(5),
  restoreReplaceMs: minutes(2),
  /** sno-backup restore: until the API is ready with the restored database. */
  restoreStartMs: minutes(10),
  restoreSettleMs: minutes(15),
  /** sno-backup restore: until the database from before is back in use. */
  restoreUndoMs: minutes(20),
  /** sno-backup restore: how many of the replaced databases are kept beside the one in use. */
  restoreKeepCount: 2,
  /** sno-rotate: creating keys and certificates, on a control plane that is ready. */
  rotateStageMs: minutes(5),
  /** sno-rotate: one change of files, with the restarts of pods and its rollback if they fail. */
  rotatePhaseMs: minutes(60),
  /** sno-rotate: until every worker trusts both CAs of the API server. Each looks four times an hour. */
  rotateWorkersMs: minutes(60),
  /** sno-rotate: until a static pod that was changed is ready; its image is on the host. */
  rotatePodMs: minutes(10),
  /**
   * sno-rotate: how long old and new are in use together. Connections of clients last five minutes on
   * a replaced certificate (client-go, cert_rotation.go).
   */
  rotateOverlapMs: minutes(10),
  /** sno-rotate: the same for service account keys. Tokens of pods are valid for an hour, and replaced after 48 minutes. */
  rotateTokensMs: minutes(90),
  /**
   * sno-address: how long the addresses must stay as they are before anything is concluded from them: a link that
   * comes up gets its addresses one after the other.
   */
  addressStableMs: seconds(15),
  /** sno-address: until the addresses stay as they are, and nothing else changes the host. */
  addressFollowMs: minutes(60),
  /** sno-address: how many moves of an address are followed within a day. Each takes the API away for minutes. */
  addressFollowsCount: 3,
  /** sno-identity: until the host has its new addresses, and no other agent changes the same files. */
  identityCheckMs: minutes(5),
  /** sno-identity: until the controller-manager and the scheduler have stopped. */
  identityHoldMs: minutes(5),
  /** sno-identity: until the API is ready with the new certificate. */
  identityFilesMs: minutes(10),
  /** sno-identity: all objects that name the Node. */
  identityObjectsMs: minutes(10),
  /** sno-identity: until the API is ready, with the controllers. */
  identityStartMs: minutes(10),
  /** sno-trial: putting network profiles, files and folders back, before the network starts. */
  trialRevertMs: minutes(5),
  /** sno-update: fetching or copying the executable and the payload beside those in use. */
  updateStageMs: minutes(45),
  /** sno-update: the new executable computes what it changes on this host. */
  updatePrepareMs: minutes(2),
  /** sno-update: replacing executable, payload and files, while the kubelet is stopped. */
  updateSwitchMs: minutes(10),
  /** sno-update: until the images are imported, the control plane runs the new ones, and nothing changes. */
  updateSettleMs: minutes(25),
  /** sno-update: how long nothing may change before the update is confirmed. */
  updateWindowMs: seconds(60),
  /** sno-update: how long it may stay unconfirmed, also after a restart of the host; then it is taken back. */
  updateTrialMs: minutes(40),
  /** sno-update: how many restarts of the host it may see unconfirmed. */
  updateBootsCount: 1,
  /** reconfigure: until the adapters that the site expects are there, and no backup is running. */
  reconfigureCheckMs: minutes(3),
  /** reconfigure: until the kubelet and all pods have stopped, and etcd's database is copied. */
  reconfigureStopMs: minutes(5),
  /** reconfigure: the network of the site, and the answers of its servers. */
  reconfigureNetworkMs: minutes(5),
  /** reconfigure: how long the servers of the site may take to answer: a switch learns, a lease is awaited. */
  reconfigureAnswersMs: seconds(90),
  /** reconfigure: until time servers have set the clock. */
  reconfigureClockMs: minutes(3),
  /** reconfigure: files and objects of the site. */
  reconfigureFilesMs: minutes(5),
  /** reconfigure, OpenShift: the network with its bridge; the start, in which expired certificates are made anew. */
  reconfigureBridgeMs: minutes(12),
  reconfigureOperatorsStartMs: minutes(25),
  /** reconfigure, OpenShift: until its API gives Routes hosts at the site, and they have moved. */
  reconfigureRoutesMs: minutes(15),
  /** reconfigure, OpenShift: until its operators are settled, also after a restart that they cost. */
  reconfigureOperatorsMs: minutes(45),
  /** reconfigure, OpenShift: how long nothing may change; operators report late what they begin. */
  reconfigureOperatorsWindowMs: minutes(5),
  /** reconfigure: the control plane with the identity of the site. */
  reconfigureStartMs: minutes(15),
  /** reconfigure: until nothing changes. */
  reconfigureSettleMs: minutes(15),
  /** reconfigure: how long nothing may change before it is kept. */
  reconfigureWindowMs: seconds(30),
  /** reconfigure: how long it may stay unconfirmed, also after a restart of the host; then it is taken back. */
  reconfigureTrialMs: minutes(20),
  /** reconfigure, OpenShift: the same, where all steps together take so long: rollouts, and perhaps a restart of the host. */
  reconfigureOperatorsTrialMs: minutes(135),
  /** reconfigure: how many restarts of the host it may see unconfirmed. */
  reconfigureBootsCount: 3,
  /** reconfigure: for how long what was before is kept for "reconfigure rollback". */
  reconfigureReturnHours: 168,
  /** post-reboot: the API after a cold start. */
  apiMs: minutes(15),
  servingCertificateMs: minutes(15),
  nodeReadyMs: minutes(15),
  /** Until kube-proxy, CoreDNS and the provisioner of volumes run, as far as the payload has them. */
  addOnsMs: minutes(10),
  /** How long the API must answer without an error before the bootstrap is reported complete. */
  apiStableMs: seconds(5),
  bootstrapCompleteMs: minutes(3),
  /** post-reboot on OpenShift: the API, then the node; each has to pull its images first. */
  startWithPullsMs: minutes(45),
  /** post-reboot on OpenShift: one request to the API, which may restart. */
  overridesMs: minutes(10),
  /** post-reboot on OpenShift: a restart of the kubelet after its unit has changed. */
  reloadKubeletMs: minutes(4),
  /** post-reboot on OpenShift: until each operator has installed its first revision, with its images. */
  takeOverMs: minutes(60),
  handOverMs: minutes(5),
  /** post-reboot on OpenShift: until the version and all operators are settled. */
  installCompleteMs: minutes(90),
  steadyStateMs: minutes(30),
  /** How long nothing in the control plane may change. */
  settlingWindowMs: seconds(20),
  cleanMs: minutes(5),
  verifyCleanMs: minutes(10),
  /** Publishing in the cluster that the installation is complete. */
  completeMs: minutes(3),
  retireMs: minutes(2),
  /** sno-deferred: how long a manifest may wait for its kind after the installation (wall clock). */
  deferredExpiryHours: 168,
  /** gather: everything; what is not collected by then is left out. Documented as two minutes. */
  gatherMs: seconds(105),
  /** gather: the evidence for the report. */
  gatherDiagnosisMs: seconds(60),
  /** gather: of the usual deadline of each source; the whole ends within gatherMs. */
  gatherPatiencePercent: 100,
  /** gather: reading the secrets on this host, which are then searched for everywhere. */
  gatherSecretsMs: seconds(20),
  /**
   * gather: maximum size of the bundle, and its maximum share of free space (source
   * and target).
   */
  gatherMaxMiB: 4096,
  gatherDiskSharePercent: 25,
  /** gather: minimum free space; with less, nothing is written to disk. */
  gatherMinFreeMiB: 64,
  /** gather: collected files kept in memory if no disk has room. */
  gatherMemoryMiB: 32,
  /** gather: how many small sources are collected concurrently, and how many large ones. */
  gatherConcurrency: 4,
  gatherBulkConcurrency: 2,
} as const;

type Name = keyof typeof defaultSettings;
type Value<Default> = Default extends boolean ? boolean : Default extends string ? string : number;
export type Settings = { readonly [Each in Name]: Value<(typeof defaultSettings)[Each]> };

/** The maximum of Node's timers; a longer one would fire at once. */
const longestMs = 2 ** 31 - 1;

/** A count is a whole number. Backups may use the whole disk, but not more. */
function schemaOf(name: string, value: number | boolean | string) {
  if (typeof value === 'boolean') return z.boolean();
  if (typeof value === 'string') return name.endsWith('Folder') ? folder : word;
  const number = z.number().positive().max(longestMs);
  if (name === 'backupDiskSharePercent') return number.max(100);
  return name.endsWith('Count') ? number.int() : number;
}

const folder = z
  .string()
  .refine(
    (path) => path !== '/' && isAbsolute(path) && normalize(path) === path && !path.endsWith('/'),
    'expected the absolute path of a folder, without a / at its end',
  );

const word = z.string().regex(/^[A-Za-z0-9/][A-Za-z0-9.,:=+/_-]*$/, 'expected one word');

/** Built on demand: most hosts have no settings file, and most agent runs are short. */
const settingsSchema = () =>
  z
    .strictObject(
      Object.fromEntries(
        Object.entries(defaultSettings).map(([name, value]) => [name, schemaOf(name, value)]),
      ),
    )
    .partial();

/** The defaults, overridden by the host's settings file. */
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
      expected:
        'a JSON object of settings with positive numbers, or true and false for switches, or a path for a folder',
      found,
    });
  }
}
