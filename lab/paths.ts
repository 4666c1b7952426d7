import { join } from 'node:path';
import type { MachineKind } from './machine-kind.ts';

/** Folders of the checkout that the lab uses. */
export const repository = join(import.meta.dirname, '..');
export const distFolder = join(repository, 'dist');
export const executable = join(distFolder, 'bin/sno-agents');
export const cli = join(distFolder, 'bin/sno');

/** Where a scenario writes its result, logs and journals. */
export function outFolder(scenario: string, machine: MachineKind = 'container'): string {
  return join(repository, 'lab/out', machine === 'container' ? scenario : `${scenario}-${machine}`);
}
