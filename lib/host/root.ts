import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isMissing } from './files.ts';
import type { HostPaths } from './paths.ts';

/** `OVERLAYFS_SUPER_MAGIC` of linux/magic.h. */
const OVERLAY = 0x794c7630;

/**
 * Whether the kubelet's folder is on an overlay, as on a live image: its usage cannot be attributed to a device. The kubelet
 * measures that folder (cadvisor_linux.go), not `/`, which composefs mounts as an overlay on hosts whose /var is a disk.
 */
export async function kubeletIsOnOverlay({
  kubelet,
}: Pick<HostPaths, 'kubelet'>): Promise<boolean> {
  return (await typeAbove(kubelet)) === OVERLAY;
}

/** Of the nearest folder that exists. */
async function typeAbove(path: string): Promise<number> {
  try {
    return (await statfs(path)).type;
  } catch (error) {
    if (!isMissing(error) || path === '/') throw error;
    return typeAbove(dirname(path));
  }
}
