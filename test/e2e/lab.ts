import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { runningFolders } from '../../lab/host/run-folder.ts';
import type { MachineKind } from '../../lab/machine-kind.ts';
import { outFolder, repository } from '../../lab/paths.ts';
import { type LabResult, readResult } from '../../lab/result.ts';
import { exists } from '../../lib/host/files.ts';

export interface LabRun {
  readonly exitCode: number | undefined;
  readonly output: string;
  readonly result: LabResult;
}

/** Runs `npm run lab -- --scenario NAME`, including its set-up, and reads its result. */
export async function runLab(
  scenario: string,
  deadlineMinutes: number,
  options: readonly string[] = [],
  machine: MachineKind = 'container',
): Promise<LabRun> {
  const out = outFolder(scenario, machine);
  const path = join(out, 'result.json');
  await rm(path, { force: true });
  const { exitCode, all } = await execa(
    process.execPath,
    [join(repository, 'lab/run.ts'), '--scenario', scenario, '--machine', machine, ...options],
    {
      cwd: repository,
      all: true,
      reject: false,
      stdin: 'ignore',
      timeout: deadlineMinutes * 60_000,
    },
  );
  if (!(await exists(path))) throw new Error(`the lab did not start: ${all.slice(-1000)}`);
  return { exitCode, output: all, result: await readResult(out) };
}

/** Leftovers of labs that did not clean up after themselves, one line each; what is in use by one that runs is none. */
export async function leftOnMachine(): Promise<string[]> {
  const within = { reject: false, timeout: 10_000 } as const;
  const loops = await execa('losetup', ['--list', '--noheadings', '--output', 'BACK-FILE'], within);
  const links = await execa('ip', ['-oneline', 'link', 'show', 'type', 'bridge'], within);
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  const running = await runningFolders();
  return [loops.stdout, links.stdout, mounts]
    .flatMap((text) => text.split('\n'))
    .filter((line) => /sno-agents\/runs|snolab/.test(line))
    .filter((line) => !running.some((folder) => line.includes(folder)));
}
