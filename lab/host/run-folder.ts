import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isMissing } from '../../lib/host/files.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from '../../lib/host/process.ts';
import { cacheFolder } from '../components/component.ts';
import { removeCgroups } from './cgroup.ts';
import { detachLoopDevicesBelow } from './loop.ts';

/** Parent of the disks and temporary trees of running labs: on a real file system, one folder per run. */
export function runsFolder(): string {
  return join(cacheFolder(), 'runs');
}

/** Creates an empty folder for a new run; call `claimRunFolder` before another run starts. */
export async function createRunFolder(): Promise<string> {
  const folder = join(runsFolder(), randomBytes(4).toString('hex'));
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

/** The folders of runs that have not ended. */
export async function runningFolders(): Promise<string[]> {
  const found: string[] = [];
  for (const folder of await runFolders()) if (await isRunning(folder)) found.push(folder);
  return found;
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
