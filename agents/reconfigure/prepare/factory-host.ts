import { clusterPath } from '../../../lib/config/cluster/read-cluster.ts';
import { exists } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { readSoundSettings } from '../../../lib/host/settings.ts';
import { bootTime } from '../../../lib/host/systemd.ts';
import {
  administratorKubeconfigs,
  withLocalAdministrator,
} from '../../../lib/render/openshift/installed-access.ts';
import { type HostContext, hostContext, signedRights } from '../../steps/host-context.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import { fixedNode } from '../openshift/node.ts';
import { describedCluster } from './openshift/described-cluster.ts';

/**
 * A host as its factory sees it. One of OpenShift that another installer made is described by its API, as long as nobody has
 * described it on its disk.
 * @throws Failure (usage) if nothing describes its cluster
 */
export async function factoryHost(paths: HostPaths, signal: AbortSignal): Promise<HostContext> {
  if (!(await exists(clusterPath(paths))) && (await hasAdministrator(paths))) {
    return hostOfOthers(paths, signal);
  }
  const host = await hostContext(paths);
  return { ...host, ...signedRights(host) };
}

async function hostOfOthers(paths: HostPaths, signal: AbortSignal): Promise<HostContext> {
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  const { cluster } = await withLocalAdministrator(paths, (client) =>
    describedCluster(paths, client, limits),
  );
  const { settings } = await readSoundSettings(paths);
  const nodeName = (await fixedNode(paths))?.nodeName ?? '';
  const host = { paths, settings, cluster, hostname: () => nodeName, bootTime };
  return { ...host, ...signedRights(host) };
}

async function hasAdministrator(paths: HostPaths): Promise<boolean> {
  for (const path of administratorKubeconfigs) if (await exists(paths.at(path))) return true;
  return false;
}
