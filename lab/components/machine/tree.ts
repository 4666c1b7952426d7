import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';

const inTree = join(import.meta.dirname, 'in-tree.sh');
const DEADLINE_MS = 10 * 60_000;

/** What to list in the recipe of a component that uses this module. */
export const treeRecipe = [import.meta.filename, inTree] as const;

/** Where a program that runs in a tree has the folder that it works in. */
export const WORK = '/run/work';

/**
 * Runs a program of a root file system in it, with /proc, /sys and /dev, and waits for its end.
 *
 * @param work folder that is `WORK` for the program
 */
export async function runInTree(
  tree: string,
  command: readonly string[],
  signal: AbortSignal,
  work = '',
): Promise<void> {
  const namespaces = ['-m', '-p', '-f', '--kill-child', '--propagation', 'private'];
  await execa('unshare', [...namespaces, 'sh', inTree, tree, work, ...command], {
    cancelSignal: signal,
    timeout: DEADLINE_MS,
    all: true,
    // RUNLEVEL keeps packages from starting their services.
    env: { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1', PATH: SYSTEM_PATH },
  });
}

const SYSTEM_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

/** Installs Debian packages in the tree, with this machine's name servers. */
export async function installInTree(
  tree: string,
  packages: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const resolvConf = join(tree, 'etc/resolv.conf');
  await copyFile('/etc/resolv.conf', resolvConf);
  const apt = ['apt-get', '-qq', '-y', '-o', 'Dpkg::Options::=--force-confold'];
  const install = [...apt, 'install', '--no-install-recommends', ...packages];
  for (const command of [[...apt, 'update'], install, ['apt-get', 'clean']]) {
    await runInTree(tree, command, signal);
  }
  await rm(join(tree, 'var/lib/apt/lists'), { recursive: true });
  await rm(resolvConf);
}
