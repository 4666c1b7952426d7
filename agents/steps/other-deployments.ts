import { lstat, mkdir, readdir, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exists, ifMissing } from '../../lib/host/files.ts';
import { runOutsideSandbox } from '../../lib/host/outside-sandbox.ts';
import type { HostPaths } from '../../lib/host/paths.ts';

const DEADLINE_MS = 120_000;

/**
 * The `/etc` of each deployment of an ostree system except the booted one, as paths on the host. An update of the operating
 * system copies /etc, and leaves the one from before for a rollback. Empty on other systems.
 */
export async function otherDeployments(paths: HostPaths): Promise<string[]> {
  const all = await deployments(paths);
  return all.flatMap(({ etc, isBooted }) => (isBooted ? [] : [etc])).toSorted();
}

/** The folder of the booted one, as a path on the host; undefined on a system without deployments. */
export async function bootedDeployment(paths: HostPaths): Promise<string | undefined> {
  const booted = (await deployments(paths)).find(({ isBooted }) => isBooted);
  return booted && dirname(booted.etc);
}

/**
 * The booted one is known by its /etc: the path on the kernel's command line (`ostree=`) is there no more as soon as ostree
 * has written another deployment, for the rest of that boot.
 */
async function deployments(paths: HostPaths): Promise<{ etc: string; isBooted: boolean }[]> {
  const booted = await stat(paths.at('/etc')).catch(ifMissing);
  const found = [];
  for (const folder of await deploymentFolders(paths)) {
    for (const name of await foldersIn(paths.at(folder))) {
      const etc = join(folder, name, 'etc');
      const own = await lstat(paths.at(etc)).catch(ifMissing);
      if (own?.isDirectory() !== true) continue;
      found.push({ etc, isBooted: own.dev === booted?.dev && own.ino === booted.ino });
    }
  }
  return found;
}

/** Those of ostree's stateroots, and of bootc with composefs alone. */
async function deploymentFolders(paths: HostPaths): Promise<string[]> {
  const stateroots = '/sysroot/ostree/deploy';
  return [
    ...(await foldersIn(paths.at(stateroots))).map((name) => join(stateroots, name, 'deploy')),
    '/sysroot/state/deploy',
  ];
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(ifMissing)) ?? [];
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** The file of a unit and the links that enable it, in the other deployments, as paths on the host. */
export async function unitInDeployments(paths: HostPaths, unit: string): Promise<string[]> {
  const found: string[] = [];
  for (const etc of await otherDeployments(paths)) {
    const folder = join(etc, 'systemd/system');
    const enabling = (await foldersIn(paths.at(folder))).filter((name) =>
      /\.(wants|requires)$/.test(name),
    );
    for (const path of ['', ...enabling].map((name) => join(folder, name, unit))) {
      // The links lead to the /etc that is booted.
      if ((await lstat(paths.at(path)).catch(ifMissing)) !== undefined) found.push(path);
    }
  }
  return found;
}

/**
 * Deletes files of other deployments. /sysroot is mounted read-only, and its file system is not: it is mounted once more
 * while they are deleted.
 *
 * @param files paths on the host, below /sysroot
 * @param how `overwritten`: before they are deleted
 */
export async function removeInDeployments(
  paths: HostPaths,
  files: readonly string[],
  how: 'deleted' | 'overwritten',
  signal: AbortSignal,
): Promise<void> {
  if (files.length === 0) return;
  const outside = (program: string, ...args: string[]) =>
    runOutsideSandbox(program, args, { signal, deadlineMs: DEADLINE_MS });
  const sysroot = paths.at('/sysroot');
  const folder = join(paths.run, 'sysroot');
  // Of a run that was killed: it would be mounted twice.
  if (await exists(folder)) await outside('umount', folder).catch(() => '');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await outside('mount', '-o', 'bind', sysroot, folder);
  try {
    await outside('mount', '-o', 'remount,bind,rw', folder);
    const there = files.map((file) => join(folder, paths.at(file).slice(sysroot.length)));
    if (how === 'overwritten')
      await outside('shred', '--iterations=1', '--remove', '--force', ...there);
    else await outside('rm', '-f', '--', ...there);
    await outside('sync', '--file-system', folder);
  } finally {
    // Not the step's signal: a stopped step must unmount, too.
    const own = { signal: AbortSignal.timeout(DEADLINE_MS), deadlineMs: DEADLINE_MS };
    await runOutsideSandbox('umount', [folder], own);
    await rmdir(folder);
  }
}
