import { mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ifMissing, removeFile, syncDirectory, writeFileAtomic } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { kubeletPaths } from '../../lib/render/kubernetes/kubelet.ts';
import type { IdentityFile } from './kubelet-identity.ts';

/** The link to the kubelet's client certificate and key. */
export const CURRENT = basename(kubeletPaths.clientPair);
const DATED = /^\.?kubelet-client-\d/;

/** The identity in use; undefined if there is none. The link's target is the kubelet's own file once it has rotated. */
export const currentIdentity = (paths: HostPaths): Promise<string | undefined> =>
  readFile(join(paths.kubeletPki, CURRENT), 'utf8').catch(ifMissing);

/** As the kubelet does, into a dated file behind a link: it cannot replace a plain file when it rotates. */
export async function placeIdentity(
  { kubeletPki: folder }: HostPaths,
  { name, contents }: IdentityFile,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await removeEarlier(folder);
  await writeFileAtomic(join(folder, name), contents, 0o600);
  await linkAtomically(folder, CURRENT, name);
}

/**
 * A kill before the link was made leaves a valid key of the node, complete or under the name of an
 * unfinished write, which nobody would ever delete.
 */
async function removeEarlier(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (DATED.test(name)) await removeFile(join(folder, name));
  }
}

async function linkAtomically(folder: string, link: string, target: string): Promise<void> {
  const beside = join(folder, `.${link}.new`);
  await rm(beside, { force: true });
  await symlink(target, beside);
  await rename(beside, join(folder, link));
  await syncDirectory(folder);
}
