import type { SiteFile } from './site-files.ts';

/**
 * Deletes the stored results of network plugins at each boot. A container runtime does not sync them:
 * after a power cut they can be empty, and then it cannot remove the sandbox of an earlier boot, so
 * that its pod never starts again ("unexpected end of JSON input", libcni). Without a result, it can:
 * a reboot ends every sandbox and removes its network.
 */
export const cniResultFiles: readonly SiteFile[] = [
  {
    path: '/etc/tmpfiles.d/50-sno-cni.conf',
    mode: 0o644,
    contents: 'R! /var/lib/cni/results\n',
  },
];
