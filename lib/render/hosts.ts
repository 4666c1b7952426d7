/**
 * What a rendered file is used for. A host lists what it needs, and a file lists the needs
 * that it serves:
 * - `control-plane`: etcd, the API server, the controller-manager and the scheduler run here;
 * - `new-database`: etcd starts with an empty database instead of a restored one;
 * - `etcd-access`: agents call etcd, which is full access to all data;
 * - `bootstrap`: agents administer the cluster until the installation ends;
 * - `csr-approval`: an agent watches certificate signing requests before there is a Node;
 * - `standalone-kubelet`: the kubelet runs static pods without an API server;
 * - `node`: the kubelet registers a Node and runs pods;
 * - `deferred-manifests`: an agent applies manifests whose kinds are served later.
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

/** A kind of host, as the list of its needs. */
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

/** Continues the control plane of a live host, from its disk. */
export const installedHost: HostNeeds = [
  'control-plane',
  'bootstrap',
  'node',
  'deferred-manifests',
];

/**
 * The same where keys are sealed: without the key of the bootstrap's administrator, which would be on its disk in the clear.
 * Its agents sign certificates in memory (lib/render/signed-access.ts).
 */
export const sealedInstalledHost: HostNeeds = ['control-plane', 'node', 'deferred-manifests'];

/**
 * Runs a control plane of its own from its first boot: no pivot, so no key of a bootstrap. Its agents
 * administer the cluster by certificates that are signed in memory (lib/render/signed-access.ts).
 */
export const aioHost: HostNeeds = ['control-plane', 'new-database', 'node', 'deferred-manifests'];

/** The files or folders that such a host needs, in the given order. */
export function neededBy<T extends { readonly uses: readonly FileUse[] }>(
  host: HostNeeds,
  all: readonly T[],
): T[] {
  return all.filter(({ uses }) => uses.some((use) => host.includes(use)));
}
