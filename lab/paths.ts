import { join } from 'node:path';

/** Folders of the checkout that the lab uses. */
export const repository = join(import.meta.dirname, '..');
export const distFolder = join(repository, 'dist');
export const executable = join(distFolder, 'bin/sno-agents');
export const cli = join(distFolder, 'bin/sno');

/** Where a scenario writes its result, logs and journals. */
export function outFolder(scenario: string): string {
  return join(repository, 'lab/out', scenario);
}
