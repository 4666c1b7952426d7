import { mkdir, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { exists, syncDirectory } from './files.ts';
import type { HostPaths } from './paths.ts';

/** A symbolic link, as the host itself sees it. */
export interface HostLink {
  readonly path: string;
  readonly target: string;
}

/** Makes those that do not exist; what is in the place of one stays. */
export async function placeLinks(paths: HostPaths, links: readonly HostLink[]): Promise<void> {
  for (const { path, target } of links) {
    const place = paths.at(path);
    if (await exists(place)) continue;
    await mkdir(dirname(place), { recursive: true });
    await symlink(target, place);
    await syncDirectory(dirname(place));
  }
}
