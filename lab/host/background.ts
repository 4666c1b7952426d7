import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Failure } from '../../lib/base/errors/failure.ts';
import { lookUntil } from '../../lib/base/wait/wait-until.ts';
import { exists, readTextIfPresent } from '../../lib/host/files.ts';

const LISTENS_MS = 10_000;
const LOOK_EVERY_MS = 20;

/** A program that runs until it is stopped, such as a host or a name server. */
export interface Background {
  readonly child: ChildProcess;
  /** Its exit code, or -1 if it was ended by a signal or could not be started. Never rejects. */
  readonly ended: Promise<number>;
}

/**
 * Starts a program without waiting for it; both outputs are appended to `log`.
 * Does not use execa: its promise is also the handle, which an async function would await.
 */
export function startInBackground(
  program: string,
  args: readonly string[],
  log: string,
  env: Readonly<Record<string, string>> = {},
): Background {
  const output = openSync(log, 'a', 0o600);
  const child = spawn(program, [...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const ended = new Promise<number>((resolve) => {
    child.once('error', () => resolve(-1));
    child.once('close', (code) => resolve(code ?? -1));
  });
  return { child, ended };
}

/** Whether it runs no more, was ended by a signal, or could not be started. */
export const hasEnded = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid === undefined || exitCode !== null || signalCode !== null;

/**
 * Waits until a program has made its socket.
 *
 * @throws Failure (fatal) with what it printed; the program is ended then
 */
export async function untilItListens(
  name: string,
  { child, ended }: Background,
  { socket, log }: { readonly socket: string; readonly log: string },
): Promise<void> {
  const listens = async () => {
    if (await exists(socket)) return { met: true };
    return hasEnded(child) ? { met: false } : { state: 'it has not made its socket' };
  };
  const { signal } = new AbortController();
  const limits = { signal, deadlineMs: LISTENS_MS, everyMs: LOOK_EVERY_MS };
  const seen = await lookUntil(listens, limits);
  if ('met' in seen && seen.met) return;
  child.kill('SIGKILL');
  await ended;
  throw new Failure('fatal', `${name} did not start`, {
    found: (await readTextIfPresent(log))?.trim() ?? 'no output',
  });
}
