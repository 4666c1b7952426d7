import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing } from '../../lib/host/files.ts';
import { kindOf } from '../../lib/host/given-file.ts';
import { otherEncoding } from './read-install-config.ts';

/**
 * The folders beside install-config.yaml whose manifests are applied to the
 * cluster, as for the installer.
 */
export const MANIFEST_FOLDERS = ['manifests', 'openshift'] as const;

/** Of all files, and so of each; objects are judged one by one. More does not fit the Ignition config of a live ISO anyway. */
const MAX_TOTAL_BYTES = 16 * 1024 * 1024;
const MAX_FILES = 1000;
const MANIFEST = /\.(ya?ml|json)$/;
/** What editors and patch leave beside a file: Emacs, vi, nano, gedit, and by hand. */
const BACKUP = /~$|^#.*#$|^\.#|\.(swp|swo|bak|backup|orig|old|rej|save|tmp)$/;
/** Safe characters for a path on the host; no leading dot. */
const SAFE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

export interface UserManifest {
  /** Beginning with the name of its folder, including subfolders. */
  path: string;
  contents: Buffer;
}

export interface UserManifests {
  manifests: UserManifest[];
  /** Paths of files whose names are not those of manifests. */
  skipped: string[];
  /** One sentence each. */
  faults: string[];
}

/**
 * Reads the user's manifests unchanged, in the order of their paths. Symlinks are
 * not followed and special files not opened: both are faults, as are names that are
 * not safe in a path on the host and files that are too large.
 */
export async function readUserManifests(
  directory: string,
  signal: AbortSignal,
  folders: readonly string[] = MANIFEST_FOLDERS,
): Promise<UserManifests> {
  const found: UserManifests = { manifests: [], skipped: [], faults: [] };
  for (const folder of folders) await visit(directory, folder, found, { folders, signal });
  if (isFull(found)) {
    found.faults.push(
      `${folders.join(' and ')}: expected at most ${MAX_FILES} files and ${MAX_TOTAL_BYTES} bytes in all. Apply some after the installation.`,
    );
  }
  return found;
}

async function visit(
  directory: string,
  path: string,
  found: UserManifests,
  { folders, signal }: { readonly folders: readonly string[]; readonly signal: AbortSignal },
): Promise<void> {
  signal.throwIfAborted();
  if (isFull(found)) return;
  const place = join(directory, path);
  const stats = await lstat(place).catch(ifMissing);
  if (stats === undefined) return;
  if (stats.isDirectory()) {
    for (const name of (await readdir(place)).toSorted()) {
      if (SAFE_NAME.test(name))
        await visit(directory, `${path}/${name}`, found, { folders, signal });
      else if (name.startsWith('.') || BACKUP.test(name)) found.skipped.push(`${path}/${name}`);
      else found.faults.push(unsafeName(`${path}/${name}`));
    }
  } else if (!stats.isFile()) {
    found.faults.push(
      `${path}: expected a file or folder, found ${kindOf(stats)}. Copy the manifest itself here.`,
    );
  } else if (folders.includes(path)) {
    found.faults.push(
      `${path}: expected a folder, found a file. Put it into a folder of this name.`,
    );
  } else if (!MANIFEST.test(path)) {
    found.skipped.push(path);
  } else if (stats.size > MAX_TOTAL_BYTES) {
    found.faults.push(
      `${path}: expected at most ${MAX_TOTAL_BYTES} bytes, found ${stats.size}. Apply it after the installation.`,
    );
  } else {
    const contents = await readWithoutFollowing(place);
    const other = otherEncoding(contents);
    if (other === undefined) found.manifests.push({ path, contents });
    // Decoded all the same, other letters would be in the cluster than in the file.
    else found.faults.push(`${path}: expected UTF-8 text, found ${other}. Save it as UTF-8.`);
  }
}

function isFull({ manifests, skipped, faults }: UserManifests): boolean {
  const bytes = manifests.reduce((sum, { contents }) => sum + contents.length, 0);
  return bytes > MAX_TOTAL_BYTES || manifests.length + skipped.length + faults.length > MAX_FILES;
}

function unsafeName(path: string): string {
  return `${JSON.stringify(path)}: expected a name of A-Z, a-z, 0-9, ".", "_" and "-". Rename the file.`;
}

async function readWithoutFollowing(path: string): Promise<Buffer> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  return await file.readFile();
}
