import { link, mkdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Failure } from '../lib/base/errors/failure.ts';
import { systemErrorCode } from '../lib/base/errors/system-error-code.ts';
import { copyFile } from '../lib/host/copy.ts';
import { LIVE_ISO } from './components/live-iso.ts';
import { OS_IMAGE } from './components/os-image.ts';

/** Files of a system that a user has, such as CoreOS, instead of those that the lab builds. */
export interface OwnFiles {
  /** A live ISO that coreos-installer can customize. */
  readonly liveIso?: string | undefined;
  /** An image of a disk, as coreos-installer takes it. Default: what the live system has with it. */
  readonly osImage?: string | undefined;
}

/** Where the live host of an installation has its image from. */
export type ImageSource = 'on the ISO' | 'of the live system' | 'served';

/** Folders as of the lab's components, with these files under the names that those have there. */
export interface OwnSystem {
  readonly liveIso?: string;
  readonly osImage?: string;
  readonly imageSource: ImageSource;
}

/** @throws Failure (usage) if one of the files is not there */
export async function requireFiles(files: OwnFiles): Promise<void> {
  for (const [option, file] of [
    ['--live-iso', files.liveIso],
    ['--os-image', files.osImage],
  ] as const) {
    if (file === undefined) continue;
    const found = await stat(file).catch(() => undefined);
    if (found?.isFile() === true) continue;
    throw new Failure('usage', `${option} ${file} is not a file`);
  }
}

export async function ownSystem(
  { liveIso, osImage }: OwnFiles,
  folder: string,
  signal: AbortSignal,
): Promise<OwnSystem> {
  const put = async (file: string | undefined, place: string, name: string) => {
    if (file === undefined) return undefined;
    const target = join(folder, place);
    await mkdir(target);
    await linkOrCopy(resolve(file), join(target, name), signal);
    return target;
  };
  const iso = await put(liveIso, 'own-live-iso', LIVE_ISO);
  const image = await put(osImage, 'own-os-image', OS_IMAGE);
  return {
    ...(iso === undefined ? {} : { liveIso: iso }),
    ...(image === undefined ? {} : { osImage: image }),
    imageSource: sourceOf({ liveIso, osImage }),
  };
}

function sourceOf({ liveIso, osImage }: OwnFiles): ImageSource {
  if (osImage !== undefined) return 'served';
  return liveIso === undefined ? 'on the ISO' : 'of the live system';
}

/** A live ISO has a gigabyte; a hard link is possible on the same file system only. */
async function linkOrCopy(file: string, target: string, signal: AbortSignal): Promise<void> {
  try {
    await link(file, target);
  } catch (error) {
    if (systemErrorCode(error) !== 'EXDEV') throw error;
    await copyFile(file, target, 0o644, signal);
  }
}
