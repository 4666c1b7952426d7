import { chmod, mkdir, realpath } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import {
  MEMORY_FOLDERS,
  type MemoryFolder,
  ON_DISK,
  underlying,
} from '../../lib/cluster/installation/in-place/places.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { run } from '../../lib/host/command.ts';
import { exists, ifMissing } from '../../lib/host/files.ts';
import { mountedType, mountsOf } from '../../lib/host/mounted-type.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { InPlaceHost } from './context.ts';

/** What is no part of the disk. */
const NOT_THE_DISK = /^\/(proc|sys|dev|run|tmp)(\/|$)/;

/**
 * Covers the folders that the bootstrap writes to with file systems in memory: none of its files is ever on the disk, not
 * even where deleted ones are. A restart of the host uncovers them. The disk below is first shown at another place, for
 * what is to be installed there.
 */
export const coverFolders: StepBody<InPlaceHost> = {
  name: 'cover-folders',
  leaves:
    'the folders of the bootstrap in memory, those of keys on a ramfs; /run/sno-agents/disk shows what is below',
  touches: ['disk'],
  input: ({ cluster }) => cluster.clusterId,
  holds: async ({ paths }) =>
    (await exists(underlying(paths).at('/etc'))) && (await uncovered(paths)).length === 0,
  async run({ paths }, progress) {
    await showDisk(paths, progress);
    for (const folder of await uncovered(paths)) {
      const kept = ON_DISK.filter((path) => path.startsWith(`${folder.path}/`));
      if (kept.length === 0) await cover(folder, paths.at(folder.path), progress);
      else await coverAround(folder, kept, paths, progress);
    }
    return done(`${MEMORY_FOLDERS.length} folders`);
  },
};

/** Private: what is mounted over a folder later must not appear here. */
async function showDisk(paths: HostPaths, progress: Progress): Promise<void> {
  const disk = underlying(paths);
  if (await exists(disk.at('/etc'))) return;
  const found = (await mountsOf(paths)).map(({ place }) => place);
  const below = found.filter((place) => place !== '/' && place.startsWith(paths.at('/')));
  const parts = below.map(paths.onHost).filter((place) => !NOT_THE_DISK.test(place));
  await mkdir(disk.root, { recursive: true, mode: 0o700 });
  await mount(['--bind', '--make-private', paths.root, disk.root], progress);
  for (const part of new Set(parts)) {
    await mount(['--bind', '--make-private', paths.at(part), disk.at(part)], progress);
  }
}

async function cover({ path, type, mode }: MemoryFolder, place: string, progress: Progress) {
  // On the disk too: it is where the file system is mounted.
  await makeFolder(dirname(place), 0o755);
  await makeFolder(place, mode);
  const options = `mode=0${mode.toString(8)},nosuid,nodev`;
  await mount(['-t', type, '-o', options, `sno-in-place:${path}`, place], progress);
}

/**
 * The same with some folders of the disk left in it, this program among them: prepared elsewhere and put in place at once,
 * so that a killed run finds them.
 */
async function coverAround(
  folder: MemoryFolder,
  kept: readonly string[],
  paths: HostPaths,
  progress: Progress,
): Promise<void> {
  const work = join(paths.run, 'covered');
  if ((await typeAt(paths, work)) === undefined) await cover(folder, work, progress);
  for (const path of kept) {
    const [from, to] = [underlying(paths).at(path), join(work, relative(folder.path, path))];
    for (const each of [from, to]) await makeFolder(each, 0o755);
    if ((await typeAt(paths, to)) === undefined) await mount(['--bind', from, to], progress);
  }
  await mount(['--rbind', work, paths.at(folder.path)], progress);
}

/** The unit's mask would leave a new one to root alone; one that is there keeps its mode. */
async function makeFolder(folder: string, mode: number): Promise<void> {
  if ((await mkdir(folder, { recursive: true })) !== undefined) await chmod(folder, mode);
}

const mount = (args: readonly string[], progress: Progress) =>
  run('mount', args, { signal: progress.signal, deadlineMs: progress.remainingMs() });

async function uncovered(paths: HostPaths): Promise<MemoryFolder[]> {
  const found: MemoryFolder[] = [];
  for (const folder of MEMORY_FOLDERS) {
    if ((await typeAt(paths, paths.at(folder.path))) !== folder.type) found.push(folder);
  }
  return found;
}

/** The kernel names no links: on CoreOS /opt is one. */
async function typeAt(paths: HostPaths, folder: string): Promise<string | undefined> {
  const place = await realpath(folder).catch(ifMissing);
  return place === undefined ? undefined : mountedType(paths, place);
}
