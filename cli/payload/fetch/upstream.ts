import { compareMinors, type Minor, minorOf } from '../../../lib/base/minor.ts';
import type { Architecture } from '../../../lib/host/architecture.ts';
import { usedPlugins } from '../../../lib/payload/required.ts';

/** Versions without `v` that upstream releases a minor version of Kubernetes with. */
export interface Companions {
  readonly minor: Minor;
  readonly etcd: string;
  readonly coredns: string;
  readonly pause: string;
  readonly cni: string;
}

/**
 * As the source of Kubernetes says (cmd/kubeadm/app/constants/constants.go, and build/dependencies.yaml for the network
 * plugins), oldest first. registry.k8s.io has no image of etcd's other patch versions.
 */
export const COMPANIONS: readonly [Companions, ...Companions[]] = [
  { minor: '1.34', etcd: '3.6.5', coredns: '1.12.1', pause: '3.10.1', cni: '1.7.1' },
  { minor: '1.35', etcd: '3.6.6', coredns: '1.13.1', pause: '3.10.1', cni: '1.8.0' },
  { minor: '1.36', etcd: '3.6.8', coredns: '1.14.2', pause: '3.10.2', cni: '1.9.1' },
  { minor: '1.37', etcd: '3.7.0', coredns: '1.14.6', pause: '3.10.2', cni: '1.9.1' },
];

/** Versions of what is independent of Kubernetes: those that the lab runs. */
export const INDEPENDENT = { flannel: '0.28.10', localPath: '0.0.30' } as const;

/** The newest that is not newer than that version; for one before all of them, the oldest. */
export function companionsOf(kubernetes: string): Companions {
  const minor = minorOf(kubernetes);
  const known = COMPANIONS.filter(
    (each) => minor !== undefined && compareMinors(each.minor, minor) <= 0,
  );
  return known.at(-1) ?? COMPANIONS[0];
}

/** Addresses in which `{…}` stands for versions without `v`, and the architecture. */
export interface ImageAddress {
  readonly name: string;
  readonly reference: string;
}
export interface DownloadAddress {
  readonly name: string;
  readonly url: string;
  /** A text with the SHA-256 of the file: alone, or in lines of SHA-256 and name. */
  readonly checksums: string;
  /** Programs that are taken from it if it is a tar archive, compressed with gzip. */
  readonly programs?: readonly string[];
}

/** Where each image of a payload comes from. */
export const IMAGE_ADDRESSES: readonly ImageAddress[] = [
  { name: 'coredns', reference: 'registry.k8s.io/coredns/coredns:v{coredns}' },
  { name: 'etcd', reference: 'registry.k8s.io/etcd:{etcd}-0' },
  { name: 'flannel', reference: 'docker.io/flannel/flannel:v{flannel}' },
  { name: 'kube-apiserver', reference: 'registry.k8s.io/kube-apiserver:v{kubernetes}' },
  {
    name: 'kube-controller-manager',
    reference: 'registry.k8s.io/kube-controller-manager:v{kubernetes}',
  },
  { name: 'kube-proxy', reference: 'registry.k8s.io/kube-proxy:v{kubernetes}' },
  { name: 'kube-scheduler', reference: 'registry.k8s.io/kube-scheduler:v{kubernetes}' },
  {
    name: 'local-path-provisioner',
    reference: 'docker.io/rancher/local-path-provisioner:v{localPath}',
  },
  { name: 'pause', reference: 'registry.k8s.io/pause:{pause}' },
];

const ETCD_RELEASE = 'https://github.com/etcd-io/etcd/releases/download/v{etcd}';
const PLUGINS_RELEASE = 'https://github.com/containernetworking/plugins/releases/download/v{cni}';

/** Where each program of a payload comes from. */
export const DOWNLOAD_ADDRESSES: readonly DownloadAddress[] = [
  {
    name: 'cni-plugins',
    url: `${PLUGINS_RELEASE}/cni-plugins-linux-{arch}-v{cni}.tgz`,
    checksums: `${PLUGINS_RELEASE}/cni-plugins-linux-{arch}-v{cni}.tgz.sha256`,
    programs: usedPlugins,
  },
  {
    name: 'etcdutl',
    url: `${ETCD_RELEASE}/etcd-v{etcd}-linux-{arch}.tar.gz`,
    checksums: `${ETCD_RELEASE}/SHA256SUMS`,
    programs: ['etcdutl'],
  },
  {
    name: 'kubelet',
    url: 'https://dl.k8s.io/release/v{kubernetes}/bin/linux/{arch}/kubelet',
    checksums: 'https://dl.k8s.io/release/v{kubernetes}/bin/linux/{arch}/kubelet.sha256',
  },
];

/** Where the newest version is written: `stable` of all, `stable-1.37` of a minor version. */
export const newestVersionUrl = (name: string): string => `https://dl.k8s.io/release/${name}.txt`;

export interface UpstreamVersions {
  /** With `v`. */
  readonly kubernetes: string;
  /** With `v`. */
  readonly etcd: string;
}

/** The addresses of all parts of these versions. */
export function upstreamParts(
  { kubernetes, etcd }: UpstreamVersions,
  arch: Architecture,
): { readonly images: readonly ImageAddress[]; readonly downloads: readonly DownloadAddress[] } {
  const values: Readonly<Record<string, string>> = {
    ...companionsOf(kubernetes),
    ...INDEPENDENT,
    kubernetes: kubernetes.replace(/^v/, ''),
    etcd: etcd.replace(/^v/, ''),
    arch,
  };
  const filled = (text: string) => text.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? '');
  return {
    images: IMAGE_ADDRESSES.map(({ name, reference }) => ({ name, reference: filled(reference) })),
    downloads: DOWNLOAD_ADDRESSES.map((each) => ({
      ...each,
      url: filled(each.url),
      checksums: filled(each.checksums),
    })),
  };
}

/** The programs in a download; undefined if the file is the program itself. */
export const programsIn = (download: string): readonly string[] | undefined =>
  DOWNLOAD_ADDRESSES.find(({ name }) => name === download)?.programs;
