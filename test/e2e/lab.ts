import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { leftOfRun, newRunName, RUN_NAME } from '../../lab/host/run-folder.ts';
import type { MachineKind } from '../../lab/machine-kind.ts';
import { outFolder, repository } from '../../lab/paths.ts';
import { type LabResult, readResult } from '../../lab/result.ts';
import { exists } from '../../lib/host/files.ts';

export interface LabRun {
  readonly exitCode: number | undefined;
  readonly output: string;
  readonly result: LabResult;
  /** What it has left on the machine, one line each. */
  readonly left: readonly string[];
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
  const name = newRunName();
  await rm(path, { force: true });
  const { exitCode, all } = await execa(
    process.execPath,
    [join(repository, 'lab/run.ts'), '--scenario', scenario, '--machine', machine, ...options],
    {
      cwd: repository,
      env: { [RUN_NAME]: name },
      all: true,
      reject: false,
      stdin: 'ignore',
      timeout: deadlineMinutes * 60_000,
    },
  );
  if (!(await exists(path))) throw new Error(`the lab did not start: ${all.slice(-1000)}`);
  return { exitCode, output: all, result: await readResult(out), left: await leftOfRun(name) };
}
