import { createHash } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { bootMoment } from '../../../lib/host/boot.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { identifyProcess, isAlive } from '../../../lib/host/process.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { SpoolPlace } from '../collecting/spool.ts';
import { diskStorage, memoryStorage } from '../collecting/storage.ts';

const MIB = 2 ** 20;

/** The working folder of one gather run, used by nothing else. */
export interface Workplace extends AsyncDisposable {
  readonly place: SpoolPlace;
  /** For archives that sources unpack; if no disk has room, a folder that does not exist. */
  readonly unpacked: string;
  /** Why nothing is stored on disk, if so. */
  readonly shortage: string | undefined;
}

/** Candidate folders; the first with enough room is used. */
export function workCandidates(
  { at }: HostPaths,
  { TMPDIR }: Readonly<Record<string, string | undefined>>,
): string[] {
  const ours = [at('/var/tmp'), at('/run'), at('/dev/shm')];
  return TMPDIR === undefined || TMPDIR === '' ? ours : [TMPDIR, ...ours];
}

/** How many bytes of a folder's file system a gather may use; undefined if too little is free. */
export async function shareOfFree(
  folder: string,
  { gatherMinFreeMiB, gatherDiskSharePercent }: Settings,
): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    if (free < gatherMinFreeMiB * MIB) return undefined;
    // Half for what is collected, half for the bundle: they are often on the same disk.
    return (free * gatherDiskSharePercent) / 100 / 2;
  } catch {
    return undefined;
  }
}

/** Uses the first folder that has room; if none has, a small amount of memory. */
export async function openWorkplace(
  folders: readonly string[],
  settings: Settings,
): Promise<Workplace> {
  for (const folder of folders) {
    const bytes = await shareOfFree(folder, settings);
    const own = bytes === undefined ? undefined : await makeFolder(folder);
    if (bytes === undefined || own === undefined) continue;
    const [spool, unpacked] = [join(own, 'spool'), join(own, 'unpacked')];
    await mkdir(spool, { mode: 0o700 });
    await mkdir(unpacked, { mode: 0o700 });
    return {
      place: { storage: diskStorage(spool), room: { left: bytes } },
      unpacked,
      shortage: undefined,
      [Symbol.asyncDispose]: () => rm(own, { recursive: true, force: true }),
    };
  }
  const { gatherMemoryMiB, gatherMinFreeMiB } = settings;
  return {
    place: { storage: memoryStorage, room: { left: gatherMemoryMiB * MIB } },
    unpacked: join(folders[0] ?? '/', 'sno-gather-has-no-folder'),
    shortage: `none of ${folders.join(', ')} has ${gatherMinFreeMiB} MiB free and can be written to`,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

const NAME = /^sno-gather-(?<boot>[0-9a-f]{8})-(?<pid>\d+)-(?<ticks>\d+)-/;

/** The name contains the process id, so that the next run knows whether it is still running. */
async function makeFolder(folder: string): Promise<string | undefined> {
  const self = await identifyProcess(process.pid);
  const name = `sno-gather-${await bootTag()}-${process.pid}-${self?.startTicks ?? 0}-`;
  // Read-only, missing or full: try the next one.
  return mkdtemp(join(folder, name)).catch(() => undefined);
}

/** Removes the folders of killed gather runs in all candidate folders. */
export async function removeDeadWork(folders: readonly string[]): Promise<void> {
  const boot = await bootTag();
  for (const folder of folders) {
    for (const name of await readdir(folder).catch(() => [])) {
      const { boot: itsBoot, pid, ticks } = NAME.exec(name)?.groups ?? {};
      if (pid === undefined || ticks === undefined) continue;
      const lives = itsBoot === boot && (await isAlive({ pid: Number(pid), startTicks: ticks }));
      if (!lives) await removeOwn(join(folder, name)).catch(() => undefined);
    }
  }
}

/** Other users can create folders of such names too. */
async function removeOwn(path: string): Promise<void> {
  const found = await lstat(path);
  if (!found.isDirectory() || found.uid !== process.geteuid?.()) return;
  await rm(path, { recursive: true, force: true });
}

async function bootTag(): Promise<string> {
  const { boot } = await bootMoment();
  return createHash('sha256').update(boot).digest('hex').slice(0, 8);
}
