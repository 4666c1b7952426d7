import type { NodeIps } from '../base/network/node-ips.ts';
import type { RuntimeKind } from '../clients/cri/kind.ts';
import type { BootstrapToken } from '../clients/rights/bootstrap-token.ts';
import type { Cluster } from '../config/cluster/cluster.ts';
import type { FileUse } from './hosts.ts';

/**
 * What happens to a private key after the installation:
 * - `gone`: only the bootstrap needs it; the cleanup proves that it is no longer on the disk;
 * - `adopted`: the file is the bootstrap's, but the cluster keeps the key, in a Secret;
 * - `permanent`: rendered to its final path and kept.
 */
export const KEY_CLASSES = ['gone', 'adopted', 'permanent'] as const;
export type KeyClass = (typeof KEY_CLASSES)[number];

export interface RenderedFile {
  /** Absolute path on the host. */
  path: string;
  mode: number;
  contents: string;
  /** A host with any of these needs gets the file. */
  uses: readonly FileUse[];
  /** Set if and only if the contents include a private key. */
  keyClass?: KeyClass | undefined;
  /** Set when the file is deleted at the end of the installation: why it existed. */
  leftover?: string | undefined;
}

/** A folder that must exist, with this mode, before files are written or pods start. */
export interface RenderedDirectory {
  /** Absolute path on the host; parents come before children. */
  path: string;
  mode: number;
  /** A host with any of these needs gets the folder. */
  uses: readonly FileUse[];
}

/**
 * What the agents need to know about a component to start and stop it in order:
 * - `database`: starts first, stops last, is restored from the snapshot on an installed host;
 * - `api-server`: starts after the database;
 * - `leader`: a client of the API server that holds a Lease; stops before it;
 * - `bootstrap`: like a leader, but only on the live host;
 * - `ignition-server`: serves the master Ignition without the API, only on the live host and until
 *   its end.
 */
export const POD_ROLES = [
  'database',
  'api-server',
  'leader',
  'bootstrap',
  'ignition-server',
] as const;
export type PodRole = (typeof POD_ROLES)[number];

export interface StaticPod {
  /** Name in the payload, such as kube-apiserver. */
  component: string;
  role: PodRole;
  /** Name of the manifest file in the kubelet's static pod folder. */
  file: string;
  /** Name of the container whose restarts are counted. */
  container: string;
  manifest: string;
}

/** A manifest to apply through the API: the text of one file. */
export interface RenderedManifest {
  name: string;
  contents: string;
}

/** A leader-election Lease that a component holds while it runs. */
export interface HeldLease {
  namespace: string;
  name: string;
}

export interface Rendered {
  directories: RenderedDirectory[];
  files: RenderedFile[];
  /** In the order in which they start. */
  staticPods: StaticPod[];
  /** Leases that the leaders leave in the API when they stop. */
  leases: HeldLease[];
  manifests: RenderedManifest[];
  /**
   * Whether the user's manifests in `/opt/openshift` are among the rendered ones (completed, some of
   * them) or have to be applied as well; if absent, as well.
   */
  userManifests?: 'included' | undefined;
}

/** Facts of the live host that rendering depends on; each must survive the reboot unchanged. */
export interface HostFacts {
  hostname: string;
  /** The addresses that the node registers, on the machine network. */
  nodeIps: NodeIps;
  /** As the container runtime reports it (CRI Status). */
  cgroupDriver: 'systemd' | 'cgroupfs';
  cgroupVersion: 1 | 2;
  containerRuntime: RuntimeKind;
  /**
   * The kubelet's folder is on an overlay, whose usage it cannot measure: that of `/` on a live image or in a container. Hosts
   * have it under this name.
   */
  rootIsOverlay: boolean;
  /** The file with the host's name servers as pods can reach them, not a stub on loopback. */
  resolvConf: string;
  /** Image references of the payload, by component name. */
  images: Readonly<Record<string, string>>;
  versions: { kubernetes: string; etcd: string };
  /** The earlier minor version of Kubernetes as which the control plane behaves, such as 1.36: until an update to the next is confirmed. */
  emulates?: string | undefined;
}

/** What `sno create` made, as PEM. The key of `adminCa` never leaves it. */
export interface LaptopAuthorities {
  servingCa: { certificate: string; key: string };
  adminCa: { certificate: string };
}

export interface RenderInput {
  cluster: Cluster;
  host: HostFacts;
  authorities: LaptopAuthorities;
  /** API groups of the manifests that are applied after the installation; empty when there are none. */
  deferredGroups: readonly string[];
  /** With which the workers of the installation request their certificates. */
  workerToken?: BootstrapToken | undefined;
}

/** What a control plane was rendered from, without keys. */
export type KeylessInput = Omit<RenderInput, 'authorities' | 'workerToken'>;

/** What a renderer gets in addition to its input: it may run programs, for minutes. */
export interface RenderEffects {
  /** Aborts rendering, which rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Reports the current activity, in one line. */
  readonly report: (line: string) => void;
  /** A folder that only root can access, empty at the start of each attempt and deleted at its end. */
  readonly work: string;
}

/** One kind of control plane. Changes nothing outside `work`; only its result is kept. */
export interface Renderer<Input = RenderInput> {
  render(input: Input, effects: RenderEffects): Promise<Rendered>;
}
