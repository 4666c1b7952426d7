import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { type LabResult, resultSchema } from '../../lab/result.ts';
import { readTextIfPresent } from '../../lib/host/files.ts';

const root = join(import.meta.dirname, '../..');

export interface LabRun {
  readonly exitCode: number | undefined;
  readonly output: string;
  readonly result: LabResult;
}

/** Runs `npm run lab -- --scenario NAME`, including its set-up, and reads its result. */
export async function runLab(scenario: string, deadlineMinutes: number): Promise<LabRun> {
  const path = join(root, 'lab/out', scenario, 'result.json');
  await rm(path, { force: true });
  const { exitCode, all } = await execa(
    process.execPath,
    [join(root, 'lab/run.ts'), '--scenario', scenario],
    { cwd: root, all: true, reject: false, stdin: 'ignore', timeout: deadlineMinutes * 60_000 },
  );
  const text = await readTextIfPresent(path);
  if (text === undefined) throw new Error(`the lab did not start: ${all.slice(-1000)}`);
  return { exitCode, output: all, result: resultSchema.parse(JSON.parse(text)) };
}

/** Leftovers of a lab that did not clean up after itself, one line each. */
export async function leftOnMachine(): Promise<string[]> {
  const within = { reject: false, timeout: 10_000 } as const;
  const loops = await execa('losetup', ['--list', '--noheadings', '--output', 'BACK-FILE'], within);
  const links = await execa('ip', ['-oneline', 'link', 'show', 'type', 'bridge'], within);
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  return [loops.stdout, links.stdout, mounts]
    .flatMap((text) => text.split('\n'))
    .filter((line) => /sno-agents\/runs|snolab/.test(line));
}
