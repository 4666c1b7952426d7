import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import { exists, isMissing } from '../../lib/host/files.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from '../../lib/host/process.ts';
import { cacheFolder } from '../components/component.ts';
import { removeCgroups } from './cgroup.ts';
import { detachLoopDevicesBelow } from './loop.ts';

const QUERY_MS = 10_000;

/** Parent of the disks and temporary trees of running labs: on a real file system, one folder per run. */
export function runsFolder(): string {
  return join(cacheFolder(), 'runs');
}

/** Gives the next run a name in its environment, by which whoever starts it knows its folder. */
export const RUN_NAME = 'SNO_LAB_RUN_NAME';

export const newRunName = (): string => randomBytes(4).toString('hex');

/** Creates an empty folder for a new run; call `claimRunFolder` before another run starts. */
export async function createRunFolder(): Promise<string> {
  const folder = join(runsFolder(), process.env[RUN_NAME] ?? newRunName());
  await mkdir(folder, { recursive: true });
  await claimRunFolder(folder, process.pid);
  return folder;
}

/** Records the folder's owner: the run ends with this process. */
export async function claimRunFolder(folder: string, pid: number): Promise<void> {
  const owner = await identifyProcess(pid);
  await writeFile(join(folder, 'owner.json'), JSON.stringify(owner));
}

/** Frees the loop devices and removes the folders of runs that ended without cleaning up. */
export async function removeDeadRuns(signal: AbortSignal): Promise<void> {
  for (const folder of await runFolders()) {
    if (!(await isRunning(folder))) await removeRunFolder(folder, signal);
  }
}

/**
 * What the run of that name has left on the machine, one line each: loop devices of its files, mounts, its folder. What
 * belongs to other labs beside it, also those of other users, is theirs.
 */
export async function leftOfRun(name: string): Promise<string[]> {
  const folder = join(runsFolder(), name);
  const within = { reject: false, timeout: QUERY_MS } as const;
  const loops = await execa('losetup', ['--list', '--noheadings', '--output', 'BACK-FILE'], within);
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  const lines = `${loops.stdout}\n${mounts}`.split('\n');
  return [
    ...lines.filter((line) => line.includes(`${folder}/`) || line.includes(`${folder} `)),
    ...((await exists(folder)) ? [folder] : []),
  ];
}

const runFolders = async (): Promise<string[]> =>
  (await readdir(runsFolder()).catch(() => [])).map((name) => join(runsFolder(), name));

async function isRunning(folder: string): Promise<boolean> {
  const owner = await readOwner(folder);
  return owner !== undefined && (await isAlive(owner));
}

/** Name prefix of the cgroups of a run's hosts. */
export function cgroupPrefix(folder: string): string {
  return `sno-lab-${basename(folder)}-`;
}

export async function removeRunFolder(folder: string, signal: AbortSignal): Promise<void> {
  await detachLoopDevicesBelow(folder, signal);
  await removeCgroups(cgroupPrefix(folder));
  await rm(folder, { recursive: true, force: true });
}

export async function readOwner(folder: string): Promise<ProcessIdentity | undefined> {
  try {
    const owner: unknown = JSON.parse(await readFile(join(folder, 'owner.json'), 'utf8'));
    if (typeof owner !== 'object' || owner === null) return undefined;
    if (!('pid' in owner) || !('startTicks' in owner)) return undefined;
    return { pid: Number(owner.pid), startTicks: String(owner.startTicks) };
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
