import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { OS_IMAGE } from './components/os-image.ts';
import { quickly } from './host/command.ts';

export interface MediumContents {
  readonly executable: string;
  /** Folder with payload.yaml. */
  readonly payload: string;
  /** Folder of the os-image component. */
  readonly osImage: string;
}

/** Where a live host sees the medium. */
const MOUNTED = '/run/media/iso';

/** Path of the OS image on a live host. */
export const osImageOnMedium = `${MOUNTED}/images/${OS_IMAGE}`;

/** Fills a folder with what lies beside the live image on its ISO. */
export async function makeMedium(
  folder: string,
  { executable, payload, osImage }: MediumContents,
  signal: AbortSignal,
): Promise<string> {
  await mkdir(join(folder, 'sno-agents'), { recursive: true });
  await mkdir(join(folder, 'images'));
  await copyFile(executable, join(folder, 'sno-agents/sno-agents'));
  // Linked and not copied: the cache is on the same file system, and the medium is read-only.
  await quickly('cp', ['-rl', payload, join(folder, 'sno-agents/payload')], signal);
  await quickly('cp', ['-l', join(osImage, OS_IMAGE), join(folder, 'images', OS_IMAGE)], signal);
  return folder;
}
