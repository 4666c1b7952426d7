import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { Failure } from '../lib/base/errors/failure.ts';
import { readTextIfPresent } from '../lib/host/files.ts';
import { isAlive } from '../lib/host/process.ts';
import type { Entrance } from './host/host.ts';
import { enterArguments } from './host/machine.ts';
import { programOf, stopNamespace } from './host/namespace.ts';
import { readOwner, removeRunFolder, runsFolder } from './host/run-folder.ts';

const keptSchema = z.object({
  scenario: z.string(),
  entrance: z.union([z.object({ leader: z.number() }), z.object({ terminal: z.string() })]),
});

/** A host left running by `--keep`. */
export interface KeptRun {
  readonly scenario: string;
  readonly entrance: Entrance;
  readonly folder: string;
  /** The process that holds the lab's namespaces. */
  readonly owner: number;
}

const fileOf = (folder: string) => join(folder, 'kept.json');

export async function writeKept(
  folder: string,
  kept: Pick<KeptRun, 'scenario' | 'entrance'>,
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

/** The command line of a program on the host, a container, for this machine. */
export async function insideHost(
  { owner, entrance }: KeptRun,
  command: readonly string[],
): Promise<string[]> {
  if (!('leader' in entrance)) throw new Failure('usage', 'the host that is kept is a machine');
  const entered = ['nsenter', ...enterArguments(entrance.leader), ...command];
  return inLab(owner, ['-m', '-n', '-p'], entered);
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

/** Opens a shell on the host; returns its exit code. That of a machine is left by Ctrl-]. */
export async function enter(kept: KeptRun): Promise<number> {
  const { entrance } = kept;
  const [program = '', ...args] =
    'leader' in entrance
      ? await insideHost(kept, ['bash', '-l'])
      : ['socat', 'STDIO,rawer,escape=0x1d', `UNIX-CONNECT:${entrance.terminal}`];
  const { exitCode } = await execa(program, args, { stdio: 'inherit', reject: false });
  return exitCode ?? 1;
}

export async function endKept({ owner, folder }: KeptRun): Promise<void> {
  await stopNamespace(owner);
  await removeRunFolder(folder, AbortSignal.timeout(60_000));
}
