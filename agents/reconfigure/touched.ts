import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { dropInPath } from '../../lib/change/identity/held.ts';
import { identityChange } from '../../lib/change/identity/request.ts';
import { kubeconfigPath } from '../../lib/change/site/places.ts';
import { isMissing } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { authorityPaths, laptopAdminCa } from '../../lib/render/kubernetes/authorities.ts';
import { kubeletPaths } from '../../lib/render/kubernetes/kubelet.ts';
import type { ReconfigureContext } from './context.ts';
import { siteFiles } from './files.ts';
import { heldBackPaths } from './hold-back.ts';
import { renewedHostKeys } from './host-keys.ts';

/** Too large to be copied while the host works, or with links in them. On the same file system as the trial. */
export const MOVED = [
  { path: '/var/lib/etcd', aside: '/var/lib/sno-agents/sno-trial/etcd' },
  { path: '/var/lib/kubelet/pki', aside: '/var/lib/sno-agents/sno-trial/kubelet-pki' },
] as const;

/** Folders in which every file may change. */
const FOLDERS = ['/etc/kubernetes', '/etc/sno-agents'] as const;
const FILES = ['/etc/hostname', '/var/lib/kubelet/kubeconfig'] as const;

/** Every file that a reconfiguration may change or create, as paths on the host: a trial keeps them. */
export async function touchedFiles(context: ReconfigureContext): Promise<string[]> {
  const { paths } = context;
  const present = await Promise.all(FOLDERS.map((folder) => filesBelow(paths, folder)));
  const { wanted, obsolete } = await siteFiles(context);
  const created = [
    paths.onHost(identityChange.requestPath(paths)),
    paths.onHost(dropInPath(paths)),
    kubeletPaths.liveConfig,
    ...(await heldBackPaths(context)),
    ...(await renewedHostKeys(context)),
    paths.onHost(kubeconfigPath(paths)),
    paths.onHost(paths.record),
    laptopAdminCa,
    authorityPaths('serving').certificate,
  ];
  const all = [
    ...present.flat(),
    ...FILES,
    ...created,
    ...wanted.map(({ path }) => path),
    ...obsolete,
  ];
  return [...new Set(all)].toSorted();
}

/** Below a folder of the host, as paths on the host. Regular files only: links are the operating system's or the kubelet's own. */
export async function filesBelow(paths: HostPaths, folder: string): Promise<string[]> {
  try {
    const entries = await readdir(paths.at(folder), { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => paths.onHost(join(entry.parentPath, entry.name)));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
