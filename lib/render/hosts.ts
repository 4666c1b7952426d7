/**
 * What a rendered file is for. A host is described by what it needs, and a file says which
 * needs it serves:
 * - `control-plane`: etcd, the API server, the controller-manager and the scheduler run here;
 * - `new-database`: etcd starts with an empty database, instead of a restored one;
 * - `etcd-access`: agents call etcd; whoever can do that owns all data;
 * - `bootstrap`: agents administer the cluster until the installation has ended;
 * - `csr-approval`: agents decide on certificate requests;
 * - `standalone-kubelet`: the kubelet runs static pods and knows no API server;
 * - `node`: the kubelet registers a Node and runs pods;
 * - `deferred-manifests`: an agent applies manifests whose kinds come later.
 */
export const FILE_USES = [
  'control-plane',
  'new-database',
  'etcd-access',
  'bootstrap',
  'csr-approval',
  'standalone-kubelet',
  'node',
  'deferred-manifests',
] as const;

export type FileUse = (typeof FILE_USES)[number];

/** A kind of host, by what it needs of what was rendered. */
export type HostNeeds = readonly FileUse[];

/** Bootstraps the control plane in memory, before the pivot. */
export const liveHost: HostNeeds = [
  'control-plane',
  'new-database',
  'etcd-access',
  'bootstrap',
  'csr-approval',
  'standalone-kubelet',
];

/** Goes on with the control plane of a live host, from its disk. */
export const installedHost: HostNeeds = [
  'control-plane',
  'bootstrap',
  'csr-approval',
  'node',
  'deferred-manifests',
];

/** Of the files or folders those that such a host needs, in their order. */
export function neededBy<T extends { readonly uses: readonly FileUse[] }>(
  host: HostNeeds,
  all: readonly T[],
): T[] {
  return all.filter(({ uses }) => uses.some((use) => host.includes(use)));
}
