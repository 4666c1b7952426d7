/**
 * What openshift-install writes into the bootstrap Ignition config of a single node on platform none or external, and what
 * becomes of it, in the releases of lib/config/openshift/releases.ts. Read in openshift/installer: data/data/bootstrap
 * (files, systemd, bootstrap-in-place) and pkg/asset/ignition/bootstrap.
 */

/** - `kept`: unchanged;
 *  - `replaced`: an agent does it;
 *  - `dropped`: nothing needs it any more. */
export type Fate = 'kept' | 'replaced' | 'dropped';

export interface InstallerEntry {
  /**
   * Path of a file, or of a folder if it ends with `/`; name of a unit; or `<unit>.d/<name>` of a
   * drop-in.
   */
  readonly at: string;
  readonly fate: Fate;
  /** For `replaced`: what does it now. */
  readonly why: string;
  /** Known only without contents: the installer of OKD writes it with contents. */
  readonly isEmpty?: true;
  /** Kept only together with this other entry; otherwise dropped. */
  readonly neededBy?: string;
  /** A config without it is not the bootstrap of a single node. */
  readonly isRequired?: true;
}

const BIN = '/usr/local/bin';
const SYSTEM = '/etc/systemd/system';
const ASSETS = '/opt/openshift';

/** Reasons of several entries. */
const why = {
  gather: 'the agent gather',
  renderer: 'the renderer of OpenShift',
  kubelet: "the agents' kubelet.service",
  nodeImage: 'gives the live image kubelet, CRI-O and oc, from the release',
  journal: 'served the journal to the network; the log bundle has it',
  okd: 'only OKD uses it',
  proxy: 'the proxy',
};

const assets: readonly InstallerEntry[] = [
  { at: `${ASSETS}/manifests/`, fate: 'kept', why: 'manifests of the cluster' },
  { at: `${ASSETS}/openshift/`, fate: 'kept', why: 'manifests of the cluster' },
  { at: `${ASSETS}/tls/`, fate: 'kept', why: 'certificates and keys' },
  { at: `${ASSETS}/auth/`, fate: 'kept', why: 'kubeconfigs' },
  {
    at: `${ASSETS}/original_cvo_overrides.patch`,
    fate: 'kept',
    why: "the user's overrides of the ClusterVersion",
  },
  { at: `${ASSETS}/bootstrap-in-place/`, fate: 'replaced', why: 'bootkube and post-reboot' },
];

const scripts: readonly InstallerEntry[] = [
  { at: `${BIN}/approve-csr.sh`, fate: 'replaced', why: 'the agent approve-csr' },
  { at: `${BIN}/bootkube.sh`, fate: 'replaced', why: 'the agent bootkube', isRequired: true },
  { at: `${BIN}/bootstrap-in-place.sh`, fate: 'replaced', why: 'the agent bootkube' },
  {
    at: `${BIN}/install-to-disk.sh`,
    fate: 'replaced',
    why: 'the agent install-to-disk',
    isRequired: true,
  },
  { at: `${BIN}/report-progress.sh`, fate: 'replaced', why: 'the agents progress and post-reboot' },
  {
    at: `${BIN}/bootstrap-service-record.sh`,
    fate: 'replaced',
    why: 'the service records of the agents',
  },
  {
    at: `${BIN}/bootstrap-verify-api-server-urls.sh`,
    fate: 'replaced',
    why: 'the preflight checks dns-api and dns-api-int',
  },
  { at: `${BIN}/bootstrap-cluster-gather.sh`, fate: 'replaced', why: why.gather },
  { at: `${BIN}/installer-gather.sh`, fate: 'replaced', why: why.gather },
  { at: `${BIN}/installer-masters-gather.sh`, fate: 'replaced', why: why.gather },
  { at: `${BIN}/crio-configure.sh`, fate: 'replaced', why: why.renderer },
  { at: `${BIN}/kubelet-pause-image.sh`, fate: 'replaced', why: why.renderer },
  { at: `${BIN}/kubelet.sh`, fate: 'replaced', why: why.kubelet },
  {
    at: `${BIN}/release-image-download.sh`,
    fate: 'replaced',
    why: why.renderer,
    isRequired: true,
  },
  {
    at: `${BIN}/release-image.sh`,
    fate: 'kept',
    why: 'node-image-pull.sh reads it',
    neededBy: `${BIN}/node-image-pull.sh`,
  },
  { at: `${BIN}/wait-for-ha-api.sh`, fate: 'dropped', why: 'one node has no other API server' },
  { at: `${BIN}/bootstrap-pivot.sh`, fate: 'dropped', why: why.okd, isEmpty: true },
  { at: `${BIN}/node-image-pull.sh`, fate: 'kept', why: why.nodeImage },
  { at: `${BIN}/node-image-overlay.sh`, fate: 'kept', why: why.nodeImage },
];

const system: readonly InstallerEntry[] = [
  {
    at: '/etc/systemd/system-generators/node-image-overlay-generator',
    fate: 'kept',
    why: why.nodeImage,
  },
  { at: `${SYSTEM}/node-image-pull.service`, fate: 'kept', why: why.nodeImage },
  { at: `${SYSTEM}/node-image-overlay.service`, fate: 'kept', why: why.nodeImage },
  { at: `${SYSTEM}/node-image-overlay.target`, fate: 'kept', why: why.nodeImage },
  { at: `${SYSTEM}/node-image-finish.service`, fate: 'kept', why: why.nodeImage },
  { at: `${SYSTEM}/var-ostreecontainer.mount`, fate: 'kept', why: why.nodeImage },
  { at: `${SYSTEM}/var-ostree\\x2dcontainer.mount`, fate: 'kept', why: why.nodeImage },
  { at: '/etc/systemd/system.conf.d/10-default-env.conf', fate: 'kept', why: why.proxy },
  {
    at: '/etc/systemd/system.conf.d/10-default-env-godebug.conf',
    fate: 'kept',
    why: 'environment of the units',
  },
  {
    at: '/etc/systemd/system.conf.d/kubelet-cgroups.conf',
    fate: 'kept',
    why: 'accounting of the units',
  },
  { at: '/etc/profile.d/proxy.sh', fate: 'kept', why: why.proxy },
  { at: '/etc/containers/registries.conf', fate: 'kept', why: 'the mirrors' },
  { at: '/etc/pki/ca-trust/source/anchors/ca.crt', fate: 'kept', why: 'the trust bundle' },
  { at: '/etc/ignition-machine-config-encapsulated.json', fate: 'kept', why: 'the FIPS mode' },
  { at: '/root/.docker/config.json', fate: 'kept', why: 'the pull secret', isRequired: true },
  { at: '/etc/motd', fate: 'replaced', why: "the agents' login prompt" },
];

const units: readonly InstallerEntry[] = [
  {
    at: 'bootkube.service',
    fate: 'replaced',
    why: 'the unit of the agent bootkube',
    isRequired: true,
  },
  {
    at: 'install-to-disk.service',
    fate: 'replaced',
    why: 'the unit of the agent install-to-disk',
    isRequired: true,
  },
  { at: 'approve-csr.service', fate: 'replaced', why: 'the unit of the agent approve-csr' },
  { at: 'progress.service', fate: 'replaced', why: 'the unit of the agent progress' },
  { at: 'kubelet.service', fate: 'replaced', why: why.kubelet },
  { at: 'crio-configure.service', fate: 'replaced', why: why.renderer },
  { at: 'release-image.service', fate: 'replaced', why: why.renderer },
  { at: 'release-image-pivot.service', fate: 'dropped', why: why.okd, isEmpty: true },
  { at: 'chown-gatewayd-key.service', fate: 'dropped', why: why.journal },
  { at: 'systemd-journal-gatewayd.service.d/certs.conf', fate: 'dropped', why: why.journal },
  { at: 'systemd-journal-gatewayd.socket', fate: 'dropped', why: why.journal },
  { at: 'restart-sshd.service', fate: 'kept', why: 'logs in after the node image was laid over' },
  { at: 'var-ostreecontainer.mount.d/10-architecture.conf', fate: 'kept', why: why.nodeImage },
  {
    at: 'zincati.service.d/okd-machine-os-disabled.conf',
    fate: 'kept',
    why: 'holds updates while installing',
  },
];

/** In the order in which people read about them. */
export const installerEntries: readonly InstallerEntry[] = [
  ...scripts,
  ...units,
  ...system,
  ...assets,
];

/**
 * Configuration that starts nothing by itself: what others added to the installer's config there
 * is kept. Anywhere else, an unknown file may be code, or change what code does.
 */
export const passivePlaces: readonly string[] = [
  '/etc/chrony.conf',
  '/etc/chrony.d/',
  '/etc/containers/policy.json',
  '/etc/containers/registries.conf.d/',
  '/etc/containers/registries.d/',
  '/etc/hostname',
  '/etc/hosts',
  '/etc/issue.d/',
  '/etc/motd.d/',
  '/etc/NetworkManager/conf.d/',
  '/etc/NetworkManager/system-connections/',
  '/etc/pki/ca-trust/source/anchors/',
  '/etc/resolv.conf',
  '/etc/ssh/sshd_config.d/',
  '/etc/sysctl.d/',
];
