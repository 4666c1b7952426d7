import { hostname } from 'node:os';
import type { EtcdClient } from '../../lib/clients/etcd/client.ts';
import type { KubeClient } from '../../lib/clients/kube/client.ts';
import type { Cluster, InstallableCluster } from '../../lib/config/cluster/cluster.ts';
import { readCluster, readInstallableCluster } from '../../lib/config/cluster/read-cluster.ts';
import { readKubeletEnvironment } from '../../lib/host/kubelet-environment.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { readSoundSettings, type Settings } from '../../lib/host/settings.ts';
import { bootTime } from '../../lib/host/systemd.ts';
import { withBootstrapAdmin, withEtcd, withEtcdOfApiServer } from '../../lib/render/access.ts';
import { withLocalAdministrator } from '../../lib/render/openshift/installed-access.ts';
import { withSignedAdministrator } from '../../lib/render/signed-access.ts';

/** How long something may still take. */
export interface Remaining {
  remainingMs(): number;
}

/** How the agents of a host administer its control plane. */
export interface ControlPlaneRights {
  /** Runs `use` with a client of the API that has all rights until `limits` ends, and closes it. */
  withAdministrator<T>(limits: Remaining, use: (client: KubeClient) => Promise<T>): Promise<T>;
  /** Runs `use` with a client of etcd, and closes it. */
  withEtcd<T>(use: (client: EtcdClient) => Promise<T>): Promise<T>;
}

/**
 * The host as steps see it. Host programs (systemctl, lsblk, mount ...) are found in PATH, files
 * and sockets below `paths`: tests replace both.
 */
export interface HostContext extends ControlPlaneRights {
  readonly paths: HostPaths;
  readonly settings: Settings;
  readonly cluster: Cluster;
  /**
   * The name of its Node: that of the host, unless another one is pinned. Read each time: a live host may get its
   * name late, from DHCP or DNS.
   */
  hostname(): string;
  /** When the host booted; only newer evidence counts for a steady state. */
  bootTime(signal: AbortSignal): Promise<Date>;
}

/** A host as steps see it that administer nothing: its files, its name and its cluster. */
export type PlainHost = Omit<HostContext, keyof ControlPlaneRights>;

/** The same for plans that write a disk or prepare for it. */
export interface InstallContext extends HostContext {
  readonly cluster: InstallableCluster;
}

/**
 * With settings that cannot be used, the defaults: the command has refused them, or goes on (lib/engine/steps/settings-for.ts).
 * @throws Failure (usage) if cluster.json is invalid
 */
export async function hostContext(paths: HostPaths): Promise<HostContext> {
  const host = await plainHost(paths);
  return { ...host, ...bootstrapRights(paths, host.cluster) };
}

/** Of a host that a live host has installed. @throws Failure (usage) like hostContext */
export async function installedContext(paths: HostPaths): Promise<HostContext> {
  const context = await hostContext(paths);
  // Its disk has no key of an administrator (lib/render/hosts.ts).
  return context.cluster.sealSecrets === undefined
    ? context
    : { ...context, ...signedRights(context) };
}

/** @throws Failure (usage) like hostContext */
export async function plainHost(paths: HostPaths): Promise<PlainHost> {
  const [{ settings }, cluster, nodeName] = await Promise.all([
    readSoundSettings(paths),
    readCluster(paths),
    nodeNameOf(paths),
  ]);
  return { paths, settings, cluster, hostname: nodeName, bootTime };
}

async function nodeNameOf(paths: HostPaths): Promise<() => string> {
  const pinned = (await readKubeletEnvironment(paths))?.nodeName;
  return pinned === undefined ? hostname : () => pinned;
}

/** @throws Failure (usage) like hostContext, and if cluster.json names no disk. */
export async function installContext(paths: HostPaths): Promise<InstallContext> {
  const [{ settings }, cluster] = await Promise.all([
    readSoundSettings(paths),
    readInstallableCluster(paths),
  ]);
  return { paths, settings, cluster, hostname, bootTime, ...bootstrapRights(paths, cluster) };
}

/** By the identities that are rendered for the bootstrap and deleted at its end. */
export function bootstrapRights(
  paths: HostPaths,
  { controlPlane }: Pick<Cluster, 'controlPlane'>,
): ControlPlaneRights {
  return {
    withAdministrator: (_limits, use) => withBootstrapAdmin(controlPlane, paths, use),
    withEtcd: (use) => withEtcd(controlPlane, paths, use),
  };
}

/**
 * By certificates that are signed in memory, and the API server's own for etcd: nothing is stored. On OpenShift, whose authorities'
 * keys are in the API only, by the kubeconfig that the operator of the API server keeps on the host.
 */
export function signedRights({
  paths,
  cluster: { controlPlane },
}: Pick<HostContext, 'paths' | 'cluster'>): ControlPlaneRights {
  return {
    withAdministrator: (limits, use) =>
      controlPlane === 'openshift'
        ? withLocalAdministrator(paths, use)
        : withSignedAdministrator(controlPlane, paths, limits, use),
    withEtcd: (use) => withEtcdOfApiServer(controlPlane, paths, use),
  };
}
