import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CommandOptions, run } from '../lib/host/command.ts';
import { NotRunHere } from './benchmark.ts';

/** What one run of a program cost. */
export interface ProcessCost {
  readonly wallSeconds: number;
  /** User and system time of the program and of its waited-for children. */
  readonly cpuSeconds: number;
  /** Peak resident memory. */
  readonly peakMiB: number;
}

/** The only program that tells a child's peak memory exactly: it waits for it with wait4. */
const GNU_TIME = '/usr/bin/time';

/** @throws NotRunHere without GNU time */
export async function expectGnuTime(): Promise<void> {
  await access(GNU_TIME).catch(() => {
    throw new NotRunHere(`${GNU_TIME} is missing (Debian package time)`);
  });
}

/** Runs a program to its end; `folder` is for a file with the figures. */
export async function measureProcess(
  program: string,
  args: readonly string[],
  folder: string,
  options: CommandOptions,
): Promise<ProcessCost> {
  const figures = join(folder, 'time.txt');
  const began = performance.now();
  await run(GNU_TIME, ['-f', '%U %S %M', '-o', figures, program, ...args], options);
  const wallSeconds = (performance.now() - began) / 1000;
  const [user = Number.NaN, system = Number.NaN, kib = Number.NaN] = (
    await readFile(figures, 'utf8')
  )
    .trim()
    .split(' ')
    .map(Number);
  return { wallSeconds, cpuSeconds: user + system, peakMiB: kib / 1024 };
}
