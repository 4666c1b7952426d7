import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { connectHostRuntime } from '../../lib/clients/cri/runtime.ts';
import { ifMissing, isMissing } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { REQUEST_DEADLINE_MS } from './request-deadline.ts';

/** Host paths that running containers mount. */
export async function mountedPaths(
  paths: HostPaths,
  signal: AbortSignal,
): Promise<readonly string[]> {
  using runtime = connectHostRuntime(paths);
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  const running = (await runtime.listContainers(limits)).filter(({ state }) => state === 'running');
  const all = await Promise.all(running.map(({ id }) => runtime.containerStatus(id, limits)));
  const mounts = all.flatMap((status) => status?.mounts ?? []).map(({ hostPath }) => hostPath);
  return [...new Set(mounts)];
}

/**
 * The mounted path for whose sake a file must stay: the file itself, or a folder of leftovers only.
 * Whoever mounts a folder that has other files as well (`/`, `/etc/kubernetes`, `/var/log`), as the
 * machine-config daemon and log collectors do, was not given this file.
 */
export async function neededMount(
  file: string,
  mounted: readonly string[],
  leftovers: readonly string[],
): Promise<string | undefined> {
  // A runtime may tell paths with links or without them: /opt, or /var/opt. Theirs are not resolved: a volume may not answer.
  const names = [...new Set([file, await realPath(file)])];
  const all = new Set([...leftovers, ...(await Promise.all(leftovers.map(realPath)))]);
  for (const source of mounted) {
    if (names.includes(source)) return source;
    const folder = `${source.replace(/\/$/, '')}/`;
    const isAbove = names.some((name) => name.startsWith(folder));
    if (isAbove && (await hasOnly(source, all))) return source;
  }
  return undefined;
}

/** What does not exist has no other name. */
const realPath = async (path: string): Promise<string> =>
  (await realpath(path).catch(ifMissing)) ?? path;

/** Whether a folder contains nothing except these files. */
async function hasOnly(folder: string, files: ReadonlySet<string>): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  // Files first: most folders with others are known at once.
  const folders = entries.filter((entry) => entry.isDirectory());
  const others = entries.filter((entry) => !entry.isDirectory());
  if (!others.every(({ name }) => files.has(join(folder, name)))) return false;
  for (const { name } of folders) {
    if (!(await hasOnly(join(folder, name), files))) return false;
  }
  return true;
}
