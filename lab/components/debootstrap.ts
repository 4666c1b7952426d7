import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';

/** Not needed at run time, and half of the size. */
const dropped = [
  'usr/share/doc',
  'usr/share/man',
  'usr/share/locale',
  'var/cache/apt',
  'var/lib/apt/lists',
];

/** Creates the tree of a minimal Debian 12 with these packages. */
export async function debootstrap(
  tree: string,
  packages: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const archive = process.env.SNO_LAB_DEBIAN_MIRROR || 'http://deb.debian.org/debian';
  const include = `--include=${packages.join(',')}`;
  const command = ['debootstrap', '--variant=minbase', include, 'bookworm', tree, archive];
  // Its mounts of /proc end with the namespace, also when it is interrupted.
  await execa('unshare', ['-m', '-p', '-f', '--kill-child', '--mount-proc', ...command], {
    cancelSignal: signal,
    timeout: 15 * 60_000,
    all: true,
  });
  for (const folder of dropped) await empty(join(tree, folder));
}

async function empty(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
}
