import { execa } from 'execa';
import { Failure } from '../../lib/base/errors/failure.ts';
import { redact } from '../../lib/base/log/redact.ts';

export interface ProgramOptions {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface ProgramResult {
  readonly ok: boolean;
  /** How it ended, in words. */
  readonly ending: string;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Leaders of the running process groups. */
const running = new Set<number>();

/**
 * Runs a program without a shell, in a process group of its own: Ctrl-C in a
 * terminal reaches only `sno`, which ends the whole group with SIGTERM, and 5 s
 * later with SIGKILL. No process of the group is left when this returns.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { signal, deadlineMs, input, env }: ProgramOptions,
): Promise<ProgramResult> {
  signal.throwIfAborted();
  const child = execa(program, [...args], {
    detached: true,
    cancelSignal: signal,
    timeout: Math.max(1, deadlineMs),
    maxBuffer: 64 * 1024 * 1024,
    encoding: 'buffer',
    stripFinalNewline: false,
    reject: false,
    ...(input === undefined ? { stdin: 'ignore' as const } : { input }),
    ...(env === undefined ? {} : { env: { ...env } }),
  });
  const { pid } = child;
  const terminate = () => killGroup(pid, 'SIGTERM');
  if (pid !== undefined) running.add(pid);
  signal.addEventListener('abort', terminate, { once: true });
  // Processes that the leader leaves behind would keep its output open.
  child.nodeChildProcess.once('exit', () => killGroup(pid, 'SIGKILL'));
  try {
    const { exitCode, signal: killedBy, code, timedOut, stdout, stderr } = await child;
    signal.throwIfAborted();
    const ending =
      code === 'ENOENT'
        ? 'program not found'
        : timedOut
          ? `not finished after ${Math.round(deadlineMs / 1000)}s`
          : `${killedBy ?? `exit code ${exitCode}`}`;
    return {
      ok: exitCode === 0,
      ending,
      stdout: Buffer.from(stdout),
      stderr: redact(Buffer.from(stderr).toString('utf8')).trim(),
    };
  } finally {
    signal.removeEventListener('abort', terminate);
    if (pid !== undefined) running.delete(pid);
  }
}

/** Like runProgram. @throws Failure (retry) with the end of its standard error if it fails */
export async function requireProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<void> {
  const { ok, ending, stderr } = await runProgram(program, args, options);
  if (ok) return;
  const found = [ending, ...stderr.split('\n').slice(-4)].filter((line) => line !== '');
  throw new Failure('retry', `${program} failed`, { found: found.join(' | ') });
}

/** Kills every running program, for an exit that does not wait. */
export function killPrograms(): void {
  for (const pid of running) killGroup(pid, 'SIGKILL');
}

function killGroup(leader: number | undefined, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, signal);
  } catch {
    // The group has ended.
  }
}
