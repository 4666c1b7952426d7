import { statfs } from 'node:fs/promises';

/** `OVERLAYFS_SUPER_MAGIC` of linux/magic.h. */
const OVERLAY = 0x794c7630;

/** Whether `/` is an overlay, as on a live image: its usage cannot be attributed to a device. */
export async function rootIsOverlay(): Promise<boolean> {
  const { type } = await statfs('/');
  return type === OVERLAY;
}
