import { execa } from 'execa';
import type { Limits } from '../base/wait/limits.ts';
import { waitedFor } from './outside-sandbox.ts';

export interface NamedUnit extends Limits {
  /** Without `.service`. A unit of that name that still runs is stopped first. */
  readonly name: string;
  readonly argv: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** How a program ended. */
export interface Ended {
  /** 0 if it succeeded. */
  readonly exitCode: number | undefined;
  /** How it ended, in words: `exit code 1`. */
  readonly how: string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end; never throws because the program fails. */
export type RunProgram = (unit: NamedUnit) => Promise<Ended>;

/**
 * Runs a program as a transient unit outside the agent's sandbox, with the environment of the
 * system's services (such as a proxy), and returns its output. If the agent is killed, the unit
 * goes on; the next attempt finds it by its name and stops it. For programs whose work must
 * survive the agent, see transient-unit.ts.
 */
export const runNamedUnit: RunProgram = async (unit) => {
  const { name, argv, environment = {}, deadlineMs, signal } = unit;
  await stop(name);
  const options = [
    `--unit=${name}`,
    ...waitedFor(unit),
    ...Object.entries(environment).map(([key, value]) => `--setenv=${key}=${value}`),
  ];
  const ended = await runHere({
    name,
    argv: ['systemd-run', ...options, '--', ...argv],
    deadlineMs,
    signal,
  });
  if (signal.aborted) await stop(name);
  signal.throwIfAborted();
  return ended;
};

/** Runs a program as a child of this process. */
export const runHere: RunProgram = async ({ argv, environment, deadlineMs, signal }) => {
  const [program = '', ...args] = argv;
  const result = await execa(program, args, {
    cancelSignal: signal,
    timeout: Math.max(1, deadlineMs),
    stdin: 'ignore',
    reject: false,
    ...(environment === undefined ? {} : { env: { ...environment } }),
  });
  const how = result.timedOut
    ? 'deadline exceeded'
    : result.exitCode !== undefined
      ? `exit code ${result.exitCode}`
      : result.signal !== undefined
        ? `signal ${result.signal}`
        : `${result.code ?? result.originalMessage}`;
  const { exitCode, stdout, stderr } = result;
  return { exitCode, how, stdout, stderr };
};

/** Nothing to stop is not an error. */
async function stop(name: string): Promise<void> {
  await execa('systemctl', ['stop', `${name}.service`], { timeout: 60_000, reject: false });
}
