import { mkdir, rm } from 'node:fs/promises';
import { execa } from 'execa';
import { Failure } from '../errors/failure.ts';
import type { Limits } from '../wait/limits.ts';
import { run } from './command.ts';
import { exists } from './files.ts';
import { unitProperties } from './systemd.ts';
import { waitForPath } from './watch.ts';

export interface TransientUnit extends Limits {
  /** Unit name without `.service`; the same for every attempt, so that a restarted agent finds it. */
  readonly name: string;
  readonly description: string;
  readonly argv: readonly string[];
  /** Folder for the mark that the unit's end leaves: what is watched instead of asking again and again. */
  readonly runFolder: string;
  /** Asked right before the program is started; not when one that runs is joined. */
  readonly beforeStart?: () => Promise<void>;
  /** Receives each line that the program prints. */
  readonly onLine: (line: string) => void;
}

/**
 * Runs a heavy program as a transient unit of its own, outside the agent's sandbox
 * and life: when the agent is killed the program keeps running, and the next attempt
 * joins it. Returns when it ended well.
 */
export async function runTransientUnit(unit: TransientUnit): Promise<void> {
  const { name, signal } = unit;
  const ended = `${unit.runFolder}/${name}.ended`;
  const running = await isRunning(name, signal);
  if (!running && !(await hasEnded(name, ended, signal))) {
    await unit.beforeStart?.();
    await start(unit, ended);
  }
  const following = follow(unit);
  try {
    await waitForPath(ended, { signal, deadlineMs: unit.deadlineMs });
  } finally {
    following.kill();
  }
  await readResult(name, signal, () => clear(name, ended, signal));
}

/** Ends a unit of that name, whatever its state, and forgets it. */
async function clear(name: string, ended: string, signal: AbortSignal): Promise<void> {
  await rm(ended, { force: true });
  await execa('systemctl', ['stop', `${name}.service`], {
    cancelSignal: signal,
    timeout: 60_000,
    reject: false,
  });
  await execa('systemctl', ['reset-failed', `${name}.service`], { timeout: 30_000, reject: false });
}

async function start(unit: TransientUnit, ended: string): Promise<void> {
  await mkdir(unit.runFolder, { recursive: true });
  await clear(unit.name, ended, unit.signal);
  const args = [
    `--unit=${unit.name}`,
    `--description=${unit.description}`,
    '--no-block',
    '--quiet',
    '--remain-after-exit',
    '--property=Type=oneshot',
    `--property=TimeoutStartSec=${Math.ceil(unit.deadlineMs / 1000)}`,
    // PATH is what the operating system gives its services; a transient unit has a shorter one.
    ...(process.env.PATH === undefined ? [] : [`--setenv=PATH=${process.env.PATH}`]),
    `--property=ExecStopPost=/usr/bin/touch ${ended}`,
    `--property=ExecStartPost=/usr/bin/touch ${ended}`,
    '--',
    ...unit.argv,
  ];
  await run('systemd-run', args, { signal: unit.signal, deadlineMs: 30_000 });
}

async function isRunning(name: string, signal: AbortSignal): Promise<boolean> {
  const { ActiveState } = await unitProperties(`${name}.service`, ['ActiveState'], signal);
  return ActiveState === 'activating';
}

async function hasEnded(name: string, ended: string, signal: AbortSignal): Promise<boolean> {
  const { ActiveState } = await unitProperties(`${name}.service`, ['ActiveState'], signal);
  return ActiveState === 'active' && (await exists(ended));
}

async function readResult(
  name: string,
  signal: AbortSignal,
  forget: () => Promise<void>,
): Promise<void> {
  const { Result, ExecMainStatus } = await unitProperties(
    `${name}.service`,
    ['Result', 'ExecMainStatus'],
    signal,
  );
  await forget();
  if (Result === 'success' && ExecMainStatus === '0') return;
  throw new Failure('retry', `${name}.service failed`, {
    code: 'command-failed',
    found: `result ${Result}, exit code ${ExecMainStatus}`,
    fix: `See "journalctl -u ${name}".`,
  });
}

function follow({ name, onLine, signal }: TransientUnit) {
  const child = execa('journalctl', ['-u', name, '-f', '-n', '0', '-o', 'cat'], {
    cancelSignal: signal,
    reject: false,
    buffer: false,
    stdin: 'ignore',
    stderr: 'ignore',
  });
  void (async () => {
    try {
      for await (const line of child) if (line.trim() !== '') onLine(line.trim());
    } catch {
      // The journal's voice is a comfort; the unit's result is what counts.
    }
  })();
  return child;
}
