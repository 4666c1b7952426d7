import { mkdir, rm } from 'node:fs/promises';
import { execa } from 'execa';
import { Failure } from '../base/errors/failure.ts';
import { redact } from '../base/log/redact.ts';
import type { Limits } from '../base/wait/limits.ts';
import { run } from './command.ts';
import { exists } from './files.ts';
import { printedBy, unitProperties } from './systemd.ts';
import { waitForPath } from './watch.ts';

/** Of a failure's output, in its sentence. */
const LAST_CHARACTERS = 500;

export interface TransientUnit extends Limits {
  /** Unit name without `.service`; the same for every attempt, so that a restarted agent finds it. */
  readonly name: string;
  readonly description: string;
  readonly argv: readonly string[];
  /** Folder of the unit's end marker: the folder is watched, systemd is not polled. */
  readonly runFolder: string;
  /** Called right before the program is started; not called when a running one is joined. */
  readonly beforeStart?: () => Promise<void>;
  /** Receives each line that the program prints. */
  readonly onLine: (line: string) => void;
}

/**
 * Runs a long-running program as a transient unit, outside the agent's sandbox and
 * lifetime: if the agent is killed, the program keeps running and the next attempt
 * joins it. Returns when it has ended successfully.
 */
export async function runTransientUnit(unit: TransientUnit): Promise<void> {
  const { name, signal } = unit;
  const ended = `${unit.runFolder}/${name}.ended`;
  if (!(await isStarted(name, ended, signal))) {
    await unit.beforeStart?.();
    await start(unit, ended);
  }
  const following = follow(unit);
  try {
    await waitForPath(ended, { signal, deadlineMs: unit.deadlineMs });
  } finally {
    following.kill();
  }
  const failure = await readResult(name, signal);
  await clear(name, ended, signal);
  if (failure !== undefined) throw failure;
}

/** Stops a unit of that name in any state, and resets it in systemd. */
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
    // A transient unit has a shorter PATH than the operating system's services.
    ...(process.env.PATH === undefined ? [] : [`--setenv=PATH=${process.env.PATH}`]),
    `--property=ExecStopPost=/usr/bin/touch ${ended}`,
    `--property=ExecStartPost=/usr/bin/touch ${ended}`,
    '--',
    ...unit.argv,
  ];
  await run('systemd-run', args, { signal: unit.signal, deadlineMs: 30_000 });
}

/** Whether an earlier attempt started it: it is running, or it has ended and left its marker. */
async function isStarted(name: string, ended: string, signal: AbortSignal): Promise<boolean> {
  const { ActiveState } = await unitProperties(`${name}.service`, ['ActiveState'], signal);
  return ActiveState === 'activating' || (ActiveState === 'active' && (await exists(ended)));
}

async function readResult(name: string, signal: AbortSignal): Promise<Failure | undefined> {
  const { Result, ExecMainStatus, InvocationID } = await unitProperties(
    `${name}.service`,
    ['Result', 'ExecMainStatus', 'InvocationID'],
    signal,
  );
  if (Result === 'success' && ExecMainStatus === '0') return undefined;
  const printed = InvocationID === undefined ? '' : await lastLines(InvocationID, signal);
  return new Failure('retry', `${name}.service failed`, {
    code: 'command-failed',
    found: `result ${Result}, exit code ${ExecMainStatus}${printed && `: ${printed}`}`,
    fix: `See "journalctl -u ${name}".`,
  });
}

/** What a program printed last, in one line; empty if the journal does not have it. */
async function lastLines(invocation: string, signal: AbortSignal): Promise<string> {
  const text = await printedBy(invocation, 5, signal);
  // Before truncation: a key without its beginning cannot be recognized.
  const lines = redact(text)
    .split('\n')
    .map((line) => line.trim());
  return lines
    .filter((line) => line !== '')
    .join('; ')
    .slice(-LAST_CHARACTERS);
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
      // The lines are only displayed; the result of the unit decides.
    }
  })();
  return child;
}
