import { execa } from 'execa';
import { Failure } from '../../lib/base/errors/failure.ts';
import { holds, lookUntil } from '../../lib/base/wait/wait-until.ts';
import { readTextIfPresent } from '../../lib/host/files.ts';
import { identifyProcess } from '../../lib/host/process.ts';
import { quickly } from './command.ts';
import { claimRunFolder, createRunFolder, removeDeadRuns, removeRunFolder } from './run-folder.ts';

/** Names the run folder in the child's environment; unset outside the namespace. */
const RUN_VARIABLE = 'SNO_LAB_RUN';
const TEARDOWN_MS = 120_000;

/** The folder of this run, if this process is inside a lab namespace. */
export function currentRunFolder(): string | undefined {
  return process.env[RUN_VARIABLE];
}

export interface NamespaceOptions {
  /** On abort, the program gets SIGTERM and time for its teardown. */
  readonly signal: AbortSignal;
  /** Runs in the background and survives the terminal. */
  readonly detached?: boolean;
  /** Receives each line; if absent, the program uses this process's terminal. */
  onLine?(line: string): void;
  /** Called with the id of the process that holds the namespaces. */
  onStart?(pid: number): void;
}

/**
 * Runs a TypeScript program as PID 1 of its own mount, network and process namespaces, and
 * returns its exit code. Its bridge and mounts never affect the machine, and no process that it
 * starts outlives it.
 */
export async function runInNamespace(
  script: string,
  args: readonly string[],
  { signal, detached = false, onLine, onStart }: NamespaceOptions,
): Promise<number> {
  await removeDeadRuns(signal);
  const folder = await createRunFolder();
  const unshare = ['-m', '-n', '-p', '-f', '--kill-child', '--mount-proc'];
  const child = execa('unshare', [...unshare, process.execPath, script, ...args], {
    env: { [RUN_VARIABLE]: folder },
    reject: false,
    buffer: false,
    detached,
    ...(onLine === undefined
      ? { stdio: 'inherit' as const }
      : { stdin: 'ignore' as const, all: true }),
  });
  if (child.pid === undefined) throw new Failure('fatal', 'unshare did not start');
  const pid = child.pid;
  await claimRunFolder(folder, pid);
  onStart?.(pid);
  const stop = () => void stopNamespace(pid);
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (onLine !== undefined)
      for await (const line of child.iterable({ from: 'all' })) onLine(String(line));
    const { exitCode } = await child;
    return exitCode ?? 1;
  } finally {
    signal.removeEventListener('abort', stop);
    await removeRunFolder(folder, AbortSignal.timeout(60_000));
  }
}

/** Asks the program to end and clean up; kills it at the deadline. */
export async function stopNamespace(unsharePid: number): Promise<void> {
  const program = await programOf(unsharePid);
  if (program !== undefined) process.kill(program, 'SIGTERM');
  const hasEnded = async () => (await identifyProcess(unsharePid)) === undefined;
  const limits = { signal: new AbortController().signal, deadlineMs: TEARDOWN_MS, everyMs: 100 };
  const seen = await lookUntil(holds(hasEnded, 'it runs'), limits);
  if (!('met' in seen)) process.kill(unsharePid, 'SIGKILL');
}

/** The program's process id outside the namespace; undefined if it has ended. */
export async function programOf(unsharePid: number): Promise<number | undefined> {
  const children = await readTextIfPresent(`/proc/${unsharePid}/task/${unsharePid}/children`);
  const program = Number(children?.trim().split(' ')[0]);
  return program > 0 ? program : undefined;
}

/** Called once inside: nspawn keeps its state in /run/systemd, which must not be the machine's. */
export async function prepareNamespace(signal: AbortSignal): Promise<void> {
  await quickly('mount', ['-t', 'tmpfs', 'tmpfs', '/run/systemd'], signal);
}
