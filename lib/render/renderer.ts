import type { Cluster } from '../cluster/cluster.ts';
import type { NodeIps } from '../network/node-ips.ts';

/**
 * Who a private key belongs to after the installation:
 * - `gone`: only the bootstrap needs it; the clean-up proves that it left the disk;
 * - `adopted`: lives on in the cluster's own Secrets or in operators' directories;
 * - `permanent`: rendered into its final place and kept.
 */
export type KeyClass = 'gone' | 'adopted' | 'permanent';

/** Where a rendered file is needed. */
export type Stage = 'live' | 'installed' | 'both';

export interface RenderedFile {
  /** Absolute path on the host. */
  path: string;
  mode: number;
  contents: string;
  stage: Stage;
  /** Set exactly when the contents hold a private key. */
  keyClass?: KeyClass | undefined;
  /** Set when the installed host must lose the file: why it existed. */
  leftover?: string | undefined;
}

/** A folder that must be there, with this mode, before files are written or pods start. */
export interface RenderedDirectory {
  /** Absolute path on the host; parents come before children. */
  path: string;
  mode: number;
  stage: Stage;
}

export interface StaticPod {
  /** etcd, kube-apiserver, kube-controller-manager or kube-scheduler. */
  component: string;
  /** Name of the manifest's file in the kubelet's static pod folder. */
  file: string;
  /** Name of the one container whose restarts are counted. */
  container: string;
  manifest: string;
}

/** A manifest to apply through the API, as the text of one file. */
export interface RenderedManifest {
  name: string;
  contents: string;
}

export interface Rendered {
  directories: RenderedDirectory[];
  files: RenderedFile[];
  staticPods: StaticPod[];
  manifests: RenderedManifest[];
}

/** Facts of the live host that rendering depends on; each must survive the reboot unchanged. */
export interface HostFacts {
  hostname: string;
  /** The addresses that the node registers, on the machine network. */
  nodeIps: NodeIps;
  /** How the container runtime is set up, by its own word (CRI Status). */
  cgroupDriver: 'systemd' | 'cgroupfs';
  /** The container runtime's CRI socket; absent: containerd's. */
  runtimeEndpoint?: string | undefined;
  /** The root filesystem is an overlay (or a container's) that the kubelet cannot account. */
  rootIsOverlay: boolean;
  /** Image reference -> as named in the payload, by component name. */
  images: Readonly<Record<string, string>>;
  versions: { kubernetes: string; etcd: string };
}

/** Key pairs that `sno create` made, as PEM. */
export interface LaptopAuthorities {
  servingCa: { certificate: string; key: string };
  adminCa: { certificate: string; key: string };
}

export interface RenderInput {
  cluster: Cluster;
  host: HostFacts;
  authorities: LaptopAuthorities;
  /** API groups of the manifests that are applied after the installation; absent or empty: there are none. */
  deferredGroups?: readonly string[];
}

/** One kind of control plane. Rendering is pure but for key generation: it reads and writes no file. */
export interface Renderer {
  readonly kind: Cluster['controlPlane'];
  render(input: RenderInput): Promise<Rendered>;
}
