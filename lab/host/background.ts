import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

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
