import { join } from 'node:path';
import type { HostPaths } from '../../host/paths.ts';

/**
 * The folders with the control plane's keys, which its static pods mount. On a sealed host they are in memory, and on the
 * disk is a sealed copy of each file.
 */
export const SEALED_FOLDERS = ['/etc/kubernetes/pki', '/etc/kubernetes/kube-apiserver'] as const;

/** Where a sealed host has what. */
export const sealPlaces = ({ state, run }: Pick<HostPaths, 'state' | 'run'>) => {
  const disk = join(state, 'sealed');
  const memory = join(run, 'sealed');
  return {
    disk,
    /** The key of all sealed files, as a credential that systemd-creds has sealed to the host. Exists on sealed hosts only. */
    credential: join(disk, 'key.cred'),
    /**
     * The key in the clear, of a live host for a host whose systemd has no secret before its first boot (`host`). That
     * boot seals it and overwrites this file.
     */
    handedOver: join(disk, 'key'),
    /** Sealed copies of the files in those folders, by their paths on the host. */
    copies: join(disk, 'files'),
    /** A file system in memory that is never swapped. */
    memory,
    /** The key while the host runs. */
    key: join(memory, 'key'),
    /** The files of those folders, by their paths on the host; mounted there. */
    files: join(memory, 'files'),
  } as const;
};

/** Whether a path on the host is in one of the sealed folders, or is one. */
export const isInSealedFolder = (path: string): boolean =>
  SEALED_FOLDERS.some((folder) => path === folder || path.startsWith(`${folder}/`));
