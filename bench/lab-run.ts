import { join } from 'node:path';
import { missingPrerequisites } from '../lab/components/debian-packages.ts';
import { outFolder, repository } from '../lab/paths.ts';
import { run } from '../lib/host/command.ts';
import { type BenchContext, NotRunHere } from './benchmark.ts';

/** Including the components that must be built first. */
export const LAB_MS = 60 * 60_000;

/** @throws NotRunHere if this machine cannot run the lab. */
export async function expectLab(): Promise<void> {
  const missing = await missingPrerequisites();
  if (missing.length > 0) throw new NotRunHere(`the lab needs ${missing.join(', ')}`);
}

/** Runs a scenario of the lab; returns its folder in `lab/out`. */
export async function runLab(
  scenario: string,
  signal: AbortSignal,
  { report }: Pick<BenchContext, 'report'>,
): Promise<string> {
  report(`npm run lab -- --scenario ${scenario}`);
  const limits = { signal, deadlineMs: LAB_MS };
  await run(process.execPath, [join(repository, 'lab/run.ts'), '--scenario', scenario], limits);
  return outFolder(scenario);
}
