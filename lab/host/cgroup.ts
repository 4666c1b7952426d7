import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Every mounted cgroup hierarchy: each v1 controller and the unified one. */
async function hierarchies(): Promise<string[]> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n');
  return mounts.flatMap((line) => {
    const [, target, type] = line.split(' ');
    const isCgroup = type === 'cgroup' || type === 'cgroup2';
    return isCgroup && target !== undefined ? [target] : [];
  });
}

/**
 * Starts a program in its own cgroup in every hierarchy, by moving this process there for the
 * duration of the start. Otherwise the kubelets of two hosts would share one `kubepods`.
 */
export async function startInCgroup<T>(name: string, start: () => T): Promise<T> {
  const all = await hierarchies();
  const before = await readFile('/proc/self/cgroup', 'utf8');
  for (const hierarchy of all) {
    const folder = join(hierarchy, name);
    await mkdir(folder, { recursive: true });
    await inheritCpuset(folder);
    await writeFile(join(folder, 'cgroup.procs'), '0');
  }
  try {
    return start();
  } finally {
    for (const hierarchy of all) {
      const home = pathBefore(before, basename(hierarchy));
      await writeFile(join(hierarchy, home, 'cgroup.procs'), '0');
    }
  }
}

/** A new v1 cpuset accepts no process until it has processors and memory nodes. */
async function inheritCpuset(folder: string): Promise<void> {
  if (!dirname(folder).includes('cpuset')) return;
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const inherited = await readFile(join(dirname(folder), file), 'utf8');
    await writeFile(join(folder, file), inherited);
  }
}

/** This process's original path in a hierarchy, from an earlier /proc/self/cgroup. */
function pathBefore(cgroups: string, hierarchy: string): string {
  for (const line of cgroups.split('\n')) {
    const [, controllers = '', path = '/'] = line.split(':');
    const names = controllers === '' ? ['unified'] : controllers.replace('name=', '').split(',');
    if (names.includes(hierarchy)) return path;
  }
  return '/';
}

/** Removes the cgroups with this name prefix and all below them; those with processes stay. */
export async function removeCgroups(prefix: string): Promise<void> {
  for (const hierarchy of await hierarchies()) {
    for (const name of await readdir(hierarchy)) {
      if (name.startsWith(prefix)) await removeTree(join(hierarchy, name));
    }
  }
}

async function removeTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(folder, entry.name));
  await rmdir(folder).catch(() => undefined);
}
