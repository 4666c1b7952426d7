import { mkdir, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
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

/** Makes all of them durably; the file or the link in the place of one is replaced. */
export async function replaceLinks(paths: HostPaths, links: readonly HostLink[]): Promise<void> {
  for (const { path, target } of links) {
    const place = paths.at(path);
    const beside = join(dirname(place), `.${basename(place)}.new`);
    await mkdir(dirname(place), { recursive: true, mode: 0o755 });
    await rm(beside, { force: true });
    await symlink(target, beside);
    await rename(beside, place);
  }
  const folders = new Set(links.map(({ path }) => dirname(paths.at(path))));
  for (const folder of folders) await syncDirectory(folder);
}
