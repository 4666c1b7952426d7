import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { readTextIfPresent } from '../lib/host/files.ts';
import { isAlive } from '../lib/host/process.ts';
import { enterArguments } from './host/machine.ts';
import { programOf, stopNamespace } from './host/namespace.ts';
import { readOwner, removeRunFolder, runsFolder } from './host/run-folder.ts';

const keptSchema = z.object({ scenario: z.string(), leader: z.number() });

/** A host left running by `--keep`. */
export interface KeptRun {
  readonly scenario: string;
  /** Process id of the host's PID 1 inside the lab's namespace. */
  readonly leader: number;
  readonly folder: string;
  /** The process that holds the lab's namespaces. */
  readonly owner: number;
}

const fileOf = (folder: string) => join(folder, 'kept.json');

export async function writeKept(
  folder: string,
  kept: Pick<KeptRun, 'scenario' | 'leader'>,
): Promise<void> {
  await writeFile(fileOf(folder), JSON.stringify(kept));
}

export async function isKept(folder: string): Promise<boolean> {
  return (await readTextIfPresent(fileOf(folder))) !== undefined;
}

/** Every host that is still running. */
export async function listKept(): Promise<KeptRun[]> {
  const kept: KeptRun[] = [];
  for (const name of await readdir(runsFolder()).catch(() => [])) {
    const folder = join(runsFolder(), name);
    const text = await readTextIfPresent(fileOf(folder));
    const owner = await readOwner(folder);
    if (text === undefined || owner === undefined || !(await isAlive(owner))) continue;
    kept.push({ ...keptSchema.parse(JSON.parse(text)), folder, owner: owner.pid });
  }
  return kept;
}

/** Opens a shell on the host; returns its exit code. */
export async function enter({ owner, leader }: KeptRun): Promise<number> {
  const lab = await programOf(owner);
  if (lab === undefined) return 1;
  const inner = ['nsenter', ...enterArguments(leader), 'bash', '-l'];
  const { exitCode } = await execa('nsenter', ['-t', `${lab}`, '-m', '-n', '-p', '--', ...inner], {
    stdio: 'inherit',
    reject: false,
  });
  return exitCode ?? 1;
}

export async function endKept({ owner, folder }: KeptRun): Promise<void> {
  await stopNamespace(owner);
  await removeRunFolder(folder, AbortSignal.timeout(60_000));
}
