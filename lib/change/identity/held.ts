import { exists } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';

/** Makes the kubelet run static pods only, whenever it starts: it cannot register a Node. */
export const dropInPath = (paths: HostPaths) =>
  paths.at('/etc/systemd/system/kubelet.service.d/50-sno-identity.conf');

/** Whether the kubelet is kept from the API. */
export const isHeld = (paths: HostPaths): Promise<boolean> => exists(dropInPath(paths));
