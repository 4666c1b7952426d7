import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { Failure } from '../lib/errors/failure.ts';
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

/** The command line of a program on the host, for this machine. */
export async function onHost(
  { owner, leader }: KeptRun,
  command: readonly string[],
): Promise<string[]> {
  return inLab(owner, ['-m', '-n', '-p'], ['nsenter', ...enterArguments(leader), ...command]);
}

/** The command line of a program of this machine that runs in the lab's network, beside the host. */
export async function besideHost(
  { owner }: KeptRun,
  command: readonly string[],
): Promise<string[]> {
  return inLab(owner, ['-n'], command);
}

async function inLab(
  owner: number,
  namespaces: readonly string[],
  command: readonly string[],
): Promise<string[]> {
  const lab = await programOf(owner);
  if (lab === undefined) throw new Failure('fatal', 'the lab has ended');
  return ['nsenter', '-t', `${lab}`, ...namespaces, '--', ...command];
}

/** Opens a shell on the host; returns its exit code. */
export async function enter(kept: KeptRun): Promise<number> {
  const [program = '', ...args] = await onHost(kept, ['bash', '-l']);
  const { exitCode } = await execa(program, args, { stdio: 'inherit', reject: false });
  return exitCode ?? 1;
}

export async function endKept({ owner, folder }: KeptRun): Promise<void> {
  await stopNamespace(owner);
  await removeRunFolder(folder, AbortSignal.timeout(60_000));
}
